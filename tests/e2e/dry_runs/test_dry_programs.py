"""What programs do around a model, without data: train, log, load and save."""

from __future__ import annotations

import json
import os
import struct
import textwrap
from pathlib import Path

import pytest
import torch
from forked import observe
from fullgraph_compiler.facts import (
    Fact,
    GraphBreak,
    ProgramRaised,
    RunFinished,
    Script,
    Switches,
    TargetProblem,
)
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

PROGRAMS = {
    "the type of a module changes": """
        model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).to(torch.bfloat16)
        optimizer = torch.optim.AdamW(model.parameters())
        torch.compile(model)(torch.randn(2, 4, dtype=torch.bfloat16)).sum().backward()
        optimizer.step()
        assert model.half()[0].weight.dtype is model[0].weight.grad.dtype is torch.float16
        """,
    "a module is made without memory": """
        with torch.device("meta"):
            model = nn.Linear(4, 4)
            other = nn.Linear(4, 4)
        torch.compile(model.to_empty(device="cpu"))(torch.randn(2, 4)).sum().backward()
        other.load_state_dict(model.state_dict(), assign=True)
        assert other.weight.device.type == "cpu"
        """,
    "what follows from numbers is known": """
        assert torch.tensor([1, 2, 3]).tolist() == torch.arange(1, 4).tolist() == [1, 2, 3]
        mask = torch.ones(3, 3).tril()
        assert mask.sum().item() == 6 and mask.numpy().sum() == 6 and f"{mask.mean():.2f}" == "0.67"
        mask[0] = torch.rand(3)
        assert f"{mask.mean():.2f}" == "?"
        """,
    "a sparse tensor comes from what is known": """
        torch.eye(3).to_sparse() @ torch.ones(3, 1)
        """,
    "data loaders shuffle, and have workers": """
        from torch.utils.data import DataLoader, TensorDataset, random_split
        data, _ = random_split(TensorDataset(torch.randn(32, 4), torch.randint(0, 3, (32,))), [24, 8])
        loader = DataLoader(data, 8, shuffle=True, num_workers=2, persistent_workers=True)
        assert [(len(x), len(y)) for x, y in loader] == [(8, 8)] * 3
        """,
    "a loss is logged": """
        model, total = nn.Linear(4, 4), 0.0
        compiled = torch.compile(model)
        for step in range(2):
            loss = compiled(torch.randn(2, 4)).sum()
            total += loss.item()
            print(f"{step}: {loss.item():.3f} {loss:.3f}", loss, round(total / (step + 1), 2), -total)
        assert str(total) == "?"
        """,
    "a loss is kept in JSON and in a database": """
        import json, sqlite3
        loss = torch.randn(3).sum().item()
        assert json.dumps({"loss": [loss, 1.5]}) == '{"loss": ["?", 1.5]}'
        database = sqlite3.connect(":memory:")
        database.execute("create table losses (loss)")
        database.execute("insert into losses values (?)", (loss,))
        assert database.execute("select loss from losses").fetchall() == [("?",)]
        """,
    "gradients are scaled and clipped": """
        model = nn.Linear(4, 4)
        optimizer, scaler = torch.optim.SGD(model.parameters()), torch.amp.GradScaler("cpu")
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(torch.randn(2, 4)).sum()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        """,
    "parameters get their first values": """
        weight = nn.Linear(4, 4).weight
        for fill in (nn.init.trunc_normal_, nn.init.orthogonal_, nn.init.kaiming_uniform_, nn.init.zeros_):
            assert fill(weight) is weight
        torch.manual_seed(0)
        """,
    "optimizers step": """
        model = nn.Linear(4, 4)
        for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD):
            for settings in ({"foreach": True}, {"fused": True}, {}):
                optimizer = kind(model.parameters(), **settings)
                for _ in range(2):
                    model(torch.randn(2, 4)).sum().backward()
                    optimizer.step()
                    optimizer.zero_grad()
        """,
    "arrays are saved by NumPy": """
        import io, numpy
        weight = nn.Linear(4, 2).weight.detach().numpy()
        assert weight.shape == (2, 4) and weight.dtype == numpy.float32 and weight.nbytes == 32
        file = io.BytesIO()
        numpy.savez(file, weight=weight.astype("float16"))
        file.seek(0)
        assert numpy.load(file)["weight"].shape == (2, 4)
        """,
    "arrays are saved by h5py": """
        import h5py
        weight = nn.Linear(4, 2).weight.detach().cpu().numpy()
        with h5py.File("weights.h5", "w") as file:
            file["a"] = weight
            file.create_dataset("b", data=weight, compression="gzip")
            file["b"][...] = weight
        with h5py.File("weights.h5") as file:
            assert file["a"].shape == file["b"].shape == (2, 4)
            nn.Linear(4, 2).weight.data.copy_(torch.from_numpy(file["a"][...]))
        """,
    "distributions are drawn from": """
        torch.distributions.Categorical(torch.softmax(torch.randn(2, 5), -1)).sample()
        """,
    "threads work beside each other": """
        from concurrent.futures import ThreadPoolExecutor
        model = nn.Linear(64, 64)
        def step(_):
            for _ in range(200):
                model.weight.detach().clone().cpu().view(-1)[:5] + 1
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(step, range(4)))
        """,
    "what is known is copied": """
        import copy
        norm = copy.deepcopy(nn.BatchNorm1d(4))
        assert norm.num_batches_tracked.item() == 0 and copy.deepcopy(torch.tensor(2.5)).item() == 2.5
        """,
    "storages are told apart": """
        one, two = nn.Linear(4, 4).weight, nn.Linear(4, 4).weight
        address = lambda tensor: tensor.untyped_storage().data_ptr()
        assert address(one) != address(two) and address(one) == address(one.detach()) == one.data_ptr()
        """,
    "modules are copied": """
        import copy
        model = nn.TransformerEncoderLayer(16, 2, batch_first=True)
        torch.compile(copy.deepcopy(model))(torch.randn(2, 5, 16))
        """,
}

ENDS = {
    "a branch": ("if torch.randn(3).sum().item() > 0: pass", "the value of a tensor"),
    "the better of two losses": ("min(1.0, torch.randn(3).sum().item())", "the value of a tensor"),
    "a tensor times a number": ("torch.randn(3) * torch.randn(3).sum().item()", "the value of a tensor"),
    "a number of Python": ("float(torch.randn(3).sum().item())", "the value of a tensor"),
    "NumPy": ("torch.randn(3).numpy().sum()", "the elements of a tensor (`numpy()`)"),
    "an array of NumPy": (
        "import numpy; numpy.asarray(torch.randn(3))",
        "the elements of a tensor (`numpy()`)",
    ),
    "a part of an array": ("torch.randn(3).numpy()[0]", "the elements of a tensor (`numpy()`)"),
    "a number for compiled code": (
        "torch.compile(lambda x, y: x + y)(torch.ones(3), torch.randn(3).sum().item())",
        "the value of a tensor",
    ),
    "loaded values": ("torch.load('scalar.pt').item() > 0", "the value of a tensor"),
}

SAFETENSORS = {
    "__init__.py": """
        class safe_open:
            def __init__(self, *_, **__): raise AssertionError("the file was read")
        """,
    "torch.py": """
        from safetensors import safe_open

        def load_file(filename, device="cpu"):
            with safe_open(filename, framework="pt", device=device) as file:
                return {name: file.get_tensor(name) for name in file.offset_keys()}

        def save_file(tensors, filename, metadata=None): raise AssertionError("a file was written")
        """,
}
"""As much of the package as a dry run takes the place of, and what is built on that."""


def run(tmp_path: Path, text: str) -> tuple[Fact, ...]:
    path = tmp_path / "program.py"
    path.write_text("import torch\nfrom torch import nn\n" + textwrap.dedent(text))
    return observe(Script(str(path)), tmp_path, switches=Switches(dry_run=True))


def problems(facts: tuple[Fact, ...]) -> list[TargetProblem]:
    return [fact for fact in facts if isinstance(fact, TargetProblem)]


def assert_finished(facts: tuple[Fact, ...]) -> None:
    assert [fact.text for fact in facts if isinstance(fact, ProgramRaised)] == []
    assert [fact.status for fact in facts if isinstance(fact, RunFinished)] == ["finished"]


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_needs_no_data(text: str, tmp_path: Path) -> None:
    facts = run(tmp_path, text)
    assert_finished(facts)
    assert [problem for problem in problems(facts) if problem.severity != "information"] == []


@pytest.mark.parametrize(("text", "needed"), ENDS.values(), ids=ENDS)
def test_what_hangs_on_a_value_ends_the_run(text: str, needed: str, tmp_path: Path) -> None:
    torch.save(torch.ones(1), tmp_path / "scalar.pt")
    facts = run(tmp_path, text)
    assert [fact.text for fact in facts if isinstance(fact, ProgramRaised)] == []
    (end,) = problems(facts)
    assert end.message.startswith(f"the dry run ends here: the program needs {needed}")
    assert {frame.row for frame in end.stack if frame.filename == str(tmp_path / "program.py")} == {3}


@pytest.mark.parametrize("reset", ["", "torch._dynamo.reset()"], ids=["", "reset"])
def test_what_stands_in_for_values_breaks_no_graph(reset: str, tmp_path: Path) -> None:
    facts = run(
        tmp_path,
        f"""
        @torch.compile
        def f(x, table):
            try:
                size = table["rows"].item()
            except KeyError:
                size = 1
            return x * size

        {reset}
        f(torch.ones(2), {{"rows": torch.tensor(2)}})
        """,
    )
    assert {fact.code for fact in facts if isinstance(fact, GraphBreak)} == {"GB0124"}


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    """A folder with one checkpoint in each form, and a large one that has holes in the place of data."""
    model = nn.Linear(4, 3)
    torch.save(model, tmp_path / "whole.pt")
    torch.save(model.state_dict(), tmp_path / "new.pt")
    torch.save(model.state_dict(), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    torch.save({"random": torch.get_rng_state()}, tmp_path / "random.pt")
    header = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "weight": {"dtype": "BF16", "shape": [1 << 17, 1 << 17], "data_offsets": [0, 1 << 35]},
            "bias": {"dtype": "F32", "shape": [1], "data_offsets": [1 << 35, (1 << 35) + 4]},
        }
    ).encode()
    with open(tmp_path / "large.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + (1 << 35) + 4)
    return tmp_path


# The older format cannot be mapped, with data neither.
@pytest.mark.parametrize(("name", "mmap"), [("new.pt", True), ("old.pt", False)])
def test_of_a_checkpoint_the_sizes_are_loaded(name: str, mmap: bool, checkpoints: Path) -> None:
    facts = run(
        checkpoints,
        f"""
        for how in (
            {{"weights_only": True}}, {{"weights_only": False}}, {{"mmap": {mmap}}}, {{"map_location": "cpu"}}
        ):
            state = torch.load("{name}", **how)
            assert [(x.shape, x.device.type) for x in state.values()] == [((3, 4), "cpu"), ((3,), "cpu")]
            for assign in (False, True):
                model = nn.Linear(4, 3)
                model.load_state_dict(state, assign=assign)
                torch.compile(model)(torch.randn(2, 4)).sum().backward()
        """,
    )
    assert_finished(facts)


def test_whole_modules_and_random_states_are_loaded(checkpoints: Path) -> None:
    facts = run(
        checkpoints,
        """
        torch.set_rng_state(torch.load("random.pt")["random"])
        torch.compile(torch.load("whole.pt", weights_only=False))(torch.randn(2, 4))
        """,
    )
    assert_finished(facts)


def test_nothing_of_a_large_checkpoint_is_read(tmp_path: Path) -> None:
    # Written with holes in the place of data, and read by a process that has not got the memory.
    with FakeTensorMode(), torch.serialization.skip_data(materialize_fake_tensors=True):
        torch.save({"weight": torch.empty(1 << 33, device="cuda")}, tmp_path / "large.pt")
    facts = run(
        tmp_path,
        """
        import resource
        for where in (None, "cpu", {"cuda:0": "cpu"}, lambda storage, _: storage, torch.device("cpu")):
            weight = torch.load("large.pt", map_location=where)["weight"]
            assert (weight.numel(), weight.device.type) == (1 << 33, "cpu" if where else "cuda")
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 << 20  # KiB
        """,
    )
    assert_finished(facts)


def test_checkpoints_are_not_written(checkpoints: Path) -> None:
    kept = (checkpoints / "new.pt").read_bytes()
    facts = run(
        checkpoints,
        """
        for step in range(3):
            torch.save({"step": step, "model": nn.Linear(9, 9).state_dict()}, "new.pt")
        state = torch.load("new.pt")
        assert state["step"] == 2 and state["model"]["weight"].shape == (9, 9)
        """,
    )
    assert_finished(facts)
    (told,) = problems(facts)
    assert (told.severity, told.stack[-1].row) == ("information", 5)
    assert told.message == "`torch.save` wrote nothing: a dry run has no data to save"
    assert (checkpoints / "new.pt").read_bytes() == kept


def test_of_safetensors_the_header_is_read(checkpoints: Path) -> None:
    package = checkpoints / "safetensors"
    package.mkdir()
    for name, text in SAFETENSORS.items():
        (package / name).write_text(textwrap.dedent(text))
    facts = run(
        checkpoints,
        """
        from safetensors import safe_open
        from safetensors.torch import load_file, save_file
        state = load_file("large.safetensors", device="cuda:1")
        assert state["weight"].shape == (1 << 17, 1 << 17) and state["weight"].dtype is torch.bfloat16
        assert str(state["weight"].device) == "cuda:1" and str(state["bias"].item()) == "?"
        with safe_open("large.safetensors", framework="pt") as file:
            part = file.get_slice("weight")
            assert list(file.keys()) == ["bias", "weight"] and file.metadata() == {"format": "pt"}
            assert part.get_shape() == [1 << 17] * 2 and part.get_dtype() == "BF16"
            assert part[2:4, :3].shape == (2, 3) and file.get_tensor("bias").device.type == "cpu"
        save_file(state, "large.safetensors")
        """,
    )
    assert_finished(facts)
    assert [problem.stack[-1].row for problem in problems(facts)] == [14]
    assert os.path.getsize(checkpoints / "large.safetensors") > 1 << 35


WRITES = """\
import os
from pathlib import Path



model = torch.nn.Linear(2, 2)
with open("opened.pt", "wb") as file:
    torch.save(model.state_dict(), file)
Path("bytes.bin").write_bytes(b"1")
torch.jit.script(model).save("scripted.pt")
torch.save(model.state_dict(), "moved.pt.tmp")
os.replace("moved.pt.tmp", "moved.pt")
assert torch.load("moved.pt")["weight"].shape == (2, 2)
os.remove("old.pt")
Path("log.txt").write_text("a log is the program's own")
"""


def test_no_file_of_the_users_is_written_over_or_removed(tmp_path: Path) -> None:
    names = ("opened.pt", "bytes.bin", "scripted.pt", "moved.pt", "old.pt")
    for name in names:
        (tmp_path / name).write_text("weeks of training")
    facts = run(tmp_path, WRITES)
    assert_finished(facts)
    assert [(tmp_path / name).read_text() for name in names] == ["weeks of training"] * len(names)
    assert not (tmp_path / "log.txt").exists()
    assert {problem.severity for problem in problems(facts)} == {"information"}
    assert {problem.stack[-1].row for problem in problems(facts) if problem.stack} == {10, 12, 13}


def test_what_needs_a_value_is_recognised_where_another_error_wraps_it(tmp_path: Path) -> None:
    facts = run(tmp_path, "torch.testing.assert_close(torch.randn(3), torch.zeros(3))\n")
    (end,) = problems(facts)
    assert "the dry run ends here" in end.message
    assert end.stack[-1].row == 3
