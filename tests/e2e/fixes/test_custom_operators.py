"""Functions that Dynamo cannot trace become operators of torch, whose fake implementations are checked."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent

import pytest
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.prover import EditProver
from fullgraph_server.fixes.rules.catalogue import candidates
from fullgraph_server.fixes.search import CandidateVerdict, try_finding
from fullgraph_server.workspace.source import SourceFile
from proving import Proving

EXTENSION = r"""
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *scaled(PyObject *self, PyObject *args) {
    PyObject *tensor;
    double factor;
    if (!PyArg_ParseTuple(args, "Od", &tensor, &factor)) return NULL;
    return PyObject_CallMethod(tensor, "mul", "d", factor);
}

static PyMethodDef methods[] = {{"scaled", scaled, METH_VARARGS, ""}, {NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "fast", "", -1, methods};
PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&module); }
"""
LIBRARY = """
void running_max(const float *x, float *out, long n) {
    for (long i = 0; i < n; i++) out[i] = i && out[i - 1] > x[i] ? out[i - 1] : x[i];
}
void clip(float *x, long n, float low) {
    for (long i = 0; i < n; i++) x[i] = x[i] < low ? low : x[i];
}
"""
LIB = """
import ctypes
from pathlib import Path

lib = ctypes.CDLL(str(Path(__file__).with_name("library.so")))
"""


@dataclass(frozen=True)
class Opaque:
    """A function, what calls it, and lines that its operator has."""

    name: str
    function: str
    program: str
    lines: tuple[str, ...]
    imports: str = ""
    fast: bool = False
    gradient: bool = False


OPAQUE = (
    Opaque(
        "a C extension",
        "",
        """
        @torch.compile(backend="eager")
        def f(x):
            y = fast.scaled(x + 1, 2.5)
            return y + 1

        x = torch.randn(3, 4, requires_grad=True)
        f(x).sum().backward()
        print(x.grad)
        """,
        ("def scaled_op(x: torch.Tensor, x_2: float) -> torch.Tensor:", "x.new_empty(x.shape)"),
        "import fast",
        fast=True,
        gradient=True,
    ),
    Opaque(
        "a library of C, without a gradient",
        """
        def running_max(x):
            out = torch.empty_like(x)
            lib.running_max(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr()), x.numel())
            return out
        """,
        """
        @torch.compile(backend="eager")
        def f(x):
            return running_max(x * 2) + x

        x = torch.randn(5, requires_grad=True)
        f(x).sum().backward()
        print(x.grad)
        """,
        ("ctx.mark_non_differentiable(output)", "x.new_empty(x.shape)"),
        LIB,
    ),
    Opaque(
        "in place",
        """
        def clip(x, low):
            lib.clip(ctypes.c_void_p(x.data_ptr()), x.numel(), ctypes.c_float(low))
        """,
        """
        @torch.compile(backend="eager")
        def f(x):
            y = x * 2
            clip(y, 0.5)
            return y + 1

        print(f(torch.arange(-3.0, 3.0)))
        """,
        ('mutates_args=("x",)', "def clip_op(x: torch.Tensor, low: float) -> None:", "return None"),
        LIB,
    ),
    Opaque(
        "numpy that is not traced",
        """
        def placed(x, shape):
            keys = np.lexsort((x.numpy()[:, 1], x.numpy()[:, 0]))
            return torch.from_numpy(keys).reshape(shape)
        """,
        """
        @torch.compile(backend="eager")
        def f(x, n):
            return placed(x * 2, [n, 3]) + 1

        print(f(torch.randn(9, 2), 3))
        print(f(torch.randn(12, 2), 4))
        """,
        ("shape: list[int]", "x.new_empty((shape[0], shape[1]), dtype=torch.int64)"),
        "import numpy as np",
    ),
    Opaque(
        "bytes",
        """
        def digest(x):
            return torch.tensor(list(hashlib.sha256(x.detach().numpy().tobytes()).digest()[:8]))
        """,
        """
        @torch.compile(backend="eager")
        def f(x):
            return digest(x * 2) + 1

        print(f(torch.arange(6.0).reshape(2, 3)))
        """,
        ("x.new_empty((8,), dtype=torch.int64)",),
        "import hashlib",
    ),
    Opaque(
        "sorted by a key, with a gradient",
        """
        def ranked(x, k):
            order = sorted(range(len(x)), key=lambda i: struct.pack("f", float(x[i].detach().sum())))
            return x[order][:, :k] * 2
        """,
        """
        @torch.compile(backend="eager")
        def f(x):
            return ranked(x + 1, 2).sin()

        x = torch.randn(4, 3, requires_grad=True)
        f(x).sum().backward()
        print(x.grad)
        """,
        ("x.new_empty((x.shape[0], min(x.shape[1], k)))", "ctx.k = k", "return x_grad, None"),
        "import struct",
        gradient=True,
    ),
    Opaque(
        "several results",
        """
        def split(x, k):
            order = sorted(range(len(x)), key=lambda i: x.tolist()[i])
            return x[order[:k]], torch.tensor(order[k:])
        """,
        """
        @torch.compile(backend="eager")
        def f(x, k):
            low, places = split(x * 2, k)
            return low.sum() + places.sum()

        print(f(torch.randn(7), 3))
        print(f(torch.randn(9), 2))
        """,
        (
            "-> tuple[torch.Tensor, torch.Tensor]:",
            "x.new_empty((x.shape[0] - k,), dtype=torch.int64)",
            "[results[0]], [x], [grad_of_result_1]",
        ),
        gradient=True,
    ),
    Opaque(
        "a list of tensors, with gradients",
        """
        def packed(parts, scale):
            data = b"".join(struct.pack("f", float(part.detach().sum())) for part in parts)
            return torch.cat(list(parts)) * scale + struct.unpack(f"{len(parts)}f", data)[0]
        """,
        """
        @torch.compile(backend="eager")
        def f(x, y):
            return packed([x * 2, y], scale=0.5) + 1

        x = torch.randn(4, 3, requires_grad=True)
        f(x, torch.randn(2, 3)).sum().backward()
        print(x.grad)
        """,
        ("sum(item.shape[0] for item in parts)", "(*parts,) = ctx.saved_tensors", "return parts_grad, None"),
        "import struct",
        gradient=True,
    ),
    Opaque(
        "a view, which becomes a copy",
        """
        def head(x, n):
            hashlib.md5(x.detach().numpy().tobytes())
            return x[:n]
        """,
        """
        @torch.compile(backend="eager")
        def f(x):
            return head(x * 2, 2) + 1

        @torch.compile(backend="eager")
        def g(x):
            return head(n=3, x=x) * 2

        print(f(torch.randn(4)), g(torch.randn(5)))
        """,
        ("return head(x, n).clone()", "head_op(n=3, x=x)", "x.new_empty((min(x.shape[0], n),))"),
        "import hashlib",
        gradient=True,
    ),
    Opaque(
        "loops like those of SciPy",
        """
        def roots(x, steps, tolerance):
            found = []
            for value in x.detach().numpy().tobytes().hex(" ", 4).split():
                target, guess = abs(struct.unpack("f", bytes.fromhex(value))[0]), 1.0
                for _ in range(steps):
                    guess = (guess + target / guess) / 2
                    if abs(guess * guess - target) < tolerance:
                        break
                found.append(guess)
            return torch.tensor(found, dtype=x.dtype).reshape(x.shape)
        """,
        """
        @torch.compile(backend="eager")
        def f(x):
            return roots(x * 2, steps=9, tolerance=1e-6) + 1

        with torch.no_grad():
            print(f(torch.tensor([1.0, 2.0, 3.0])))
        """,
        ("steps: int, tolerance: float", "x.new_empty(x.shape)"),
        "import struct",
    ),
    Opaque(
        "what is not to be traced",
        """
        @torch.compiler.disable
        def normal(x, p, q=1):
            hashlib.md5(b"a")  # so that it does not help to trace it
            return x / x.norm(p) * q
        """,
        """
        @torch.compile(backend="eager")
        def f(x):
            y = normal(x, q=3, p=2.0)
            return y * 2

        x = torch.randn(4, requires_grad=True)
        f(x).sum().backward()
        print(x.grad)
        """,
        ("def normal_op(x: torch.Tensor, p: float, q: int)", "return normal(x, p, q)"),
        "import hashlib",
        gradient=True,
    ),
    Opaque(
        "no tensor as an argument",
        """
        def table(n):
            return torch.tensor([zlib.crc32(bytes([i])) for i in range(n)])
        """,
        """
        @torch.compile(backend="eager")
        def f(x):
            return table(x.shape[0]) + x

        print(f(torch.ones(3)), f(torch.ones(5)))
        """,
        ('torch.empty((n,), dtype=torch.int64, device="cpu")',),
        "import zlib",
    ),
    Opaque(
        "an array of random numbers",
        """
        def spans(size, count):
            mask = np.zeros(size, dtype=bool)
            for _ in range(2):  # a break in a loop leaves all of the function to NumPy
                hashlib.md5(mask.tobytes())
                mask[np.random.choice(np.arange(size), count, replace=False)] = True
            return mask
        """,
        """
        @torch.compile
        def f(x):
            mask = spans(len(x), 2)
            mask = torch.tensor(mask, device=x.device)
            return x.masked_fill(mask, 0.0)

        print(f(torch.ones(4)), f(torch.ones(6)))
        """,
        ("tags=torch.Tag.nondeterministic_seeded", "mask = mask.to(device=x.device)"),
        "import hashlib\nimport numpy as np",
    ),
)
REFUSED = {
    "a ledger": (
        """
        class Ledger:
            entries = []

        def stamp(x):
            digest = hashlib.sha256(x.numpy().tobytes()).digest()
            Ledger.entries.append(digest)
            return torch.tensor(digest[0] / 255.0)
        """,
        "stamp(x)",
        (
            "`stamp` changes `Ledger.entries`, and torch removes an operator call whose result is "
            "unused, and may reuse the result of an equal call"
        ),
    ),
    "an object": (
        """
        class Config:
            scale = 2

        def scaled(x, config):
            hashlib.md5(bytes([config.scale]))
            return x * config.scale
        """,
        "scaled(x, Config())",
        "`scaled` gets `Config` as `config`, which a custom operator cannot take",
    ),
    "sizes that depend on values": (
        """
        def positive(x):
            return torch.tensor([v for v in struct.unpack(f"{len(x)}f", x.numpy().tobytes()) if v > 0])
        """,
        "positive(x)",
        (
            "`positive` has results that do not follow from its arguments: "
            "the sizes of its results depend on values"
        ),
    ),
    "a number": (
        """
        def total(x):
            return int.from_bytes(hashlib.md5(x.numpy().tobytes()).digest()[:2], "big")
        """,
        "total(x)",
        "`total` returns `int`, but a custom operator returns tensors",
    ),
}


@pytest.fixture(scope="module")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a C extension and a library, made by the compiler of this machine."""
    folder = tmp_path_factory.mktemp("binaries")
    include = sysconfig.get_paths()["include"]
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for text, name, options in (
        (EXTENSION, f"fast{suffix}", [f"-I{include}"]),
        (LIBRARY, "library.so", []),
    ):
        source = folder / f"{name}.c"
        source.write_text(text)
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", *options, str(source), "-o", str(folder / name)], check=True
        )
    return folder


def _written(opaque: Opaque, folder: Path, binaries: Path) -> Path:
    for binary in binaries.iterdir():
        shutil.copy(binary, folder)
    path = folder / "program.py"
    parts = (opaque.imports, "import torch\n", dedent(opaque.function), dedent(opaque.program))
    path.write_text("\n".join(part.strip("\n") + "\n\n" for part in parts))
    return path


async def _tries(prover: EditProver) -> list[tuple[list[CandidateVerdict], str]]:
    base = await prover.as_it_is()
    assert base.report.status == "finished", base.report.findings
    assert not await prover.nondeterminism(base)
    found = []
    for finding in prover.fixable(base.report):
        tried = await try_finding(prover, base, base, finding, candidates)
        found.append((list(tried.tries), tried.refused))
    return found


@pytest.mark.parametrize(
    "opaque",
    [pytest.param(item, id=item.name, marks=() if item.fast else pytest.mark.slow) for item in OPAQUE],
)
def test_what_cannot_be_traced_becomes_an_operator(
    opaque: Opaque, proving: Proving, binaries: Path, tmp_path: Path
) -> None:
    _becomes_an_operator(opaque, proving, binaries, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "name",
    [
        "a C extension",
        "sorted by a key, with a gradient",
        "a list of tensors, with gradients",
        "what is not to be traced",
    ],
)
def test_what_cannot_be_traced_becomes_an_operator_on_a_gpu(
    name: str, proving: Proving, binaries: Path, tmp_path: Path
) -> None:
    opaque = next(item for item in OPAQUE if item.name == name)
    program = re.sub(r"(torch\.randn\([^()]*)\)", r'\1, device="cuda")', opaque.program)
    _becomes_an_operator(replace(opaque, program=program), proving, binaries, tmp_path)


def _becomes_an_operator(opaque: Opaque, proving: Proving, binaries: Path, tmp_path: Path) -> None:
    path = _written(opaque, tmp_path, binaries)
    tries = [item for tries, _ in proving.run(path, _tries) for item in tries]
    made = [item for item in tries if item.fix.rule == "custom-operator"]
    assert made, [item.fix.rule for item in tries]
    assert any(item.verdict.verified for item in made), [item.verdict.reason for item in made]
    best = next(item for item in made if item.verdict.verified)
    text = "\n".join(edit.text for edit in best.fix.edits)
    for line in opaque.lines:
        assert line in text or line in _edited(path, best), text
    assert ("torch.autograd.grad" in text) == opaque.gradient


def _edited(path: Path, item: CandidateVerdict) -> str:
    return edited(SourceFile(str(path), path.read_text()), item.fix.edits)


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_an_operator_cannot_have_is_told(
    name: str, proving: Proving, binaries: Path, tmp_path: Path
) -> None:
    function, call, sentence = REFUSED[name]
    program = f"""
        @torch.compile(backend="eager")
        def f(x):
            return {call} + 1

        with torch.no_grad():
            print(f(torch.tensor([1.0, -2.0, 3.0])))
        """
    path = _written(Opaque(name, function, program, (), "import hashlib, struct"), tmp_path, binaries)
    found = proving.run(path, _tries)
    assert sentence in [refused for _, refused in found], found
    assert not any(item.fix.rule == "custom-operator" for tries, _ in found for item in tries)


@pytest.mark.slow
def test_what_gives_back_no_tensors_is_traced_without_its_python(
    proving: Proving, binaries: Path, tmp_path: Path
) -> None:
    function = """
        def hashed(x, names):
            factors = {name: hashlib.md5(name.encode()).digest()[0] / 255 for name in names}
            return {name: x * factor for name, factor in factors.items()}
        """
    program = """
        @torch.compile
        def f(x):
            found = hashed(x * 2, ("a", "b"))
            return found["a"] + found["b"]

        x = torch.randn(3, 4, requires_grad=True)
        f(x).sum().backward()
        print(x.grad)
        """
    path = _written(Opaque("", function, program, (), "import hashlib"), tmp_path, binaries)
    [(tries, refused)] = proving.run(path, _tries)
    assert refused == "`hashed` gets `tuple` as `names`, which a custom operator cannot take"
    assert [(item.fix.rule, item.fix.safety, item.verdict.verified) for item in tries] == [
        ("nonstrict-trace", "unsafe", True)
    ], tries
    assert "gradients" in tries[0].verdict.basis


@pytest.mark.slow
def test_a_view_that_is_changed_later_becomes_no_copy(
    proving: Proving, binaries: Path, tmp_path: Path
) -> None:
    view = next(item for item in OPAQUE if item.name == "a view, which becomes a copy")
    program = """
        @torch.compile(backend="eager")
        def f(x):
            y = head(x, 2)
            y.add_(1)
            return x

        with torch.no_grad():
            print(f(torch.ones(4)))
        """
    path = _written(replace(view, program=program), tmp_path, binaries)
    made = [
        item for tries, _ in proving.run(path, _tries) for item in tries if item.fix.rule == "custom-operator"
    ]
    assert made
    for item in made:
        assert not item.verdict.verified
        assert "no longer in the memory of" in item.verdict.reason
