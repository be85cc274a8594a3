"""Dry runs and previews on the command line. Runs are faked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from faked_run import FakeRun, enter_project, fake_runs, fullgraph
from fullgraph_compiler.facts import (
    DEVICES,
    CodeGenerated,
    Cost,
    Fact,
    GraphCaptured,
    GraphNode,
    Kernel,
    KernelCompiled,
    KernelNode,
    RanDry,
    RunRequest,
    StackFrame,
    TargetProblem,
)

SENTENCE = "preview for NVIDIA H100 80GB HBM3: nothing ran on a GPU"
UNKNOWN = "Which settings autotuning would choose."
TRITON = "@triton.jit\ndef triton_poi_0(in_ptr0):\n    tmp1 = triton_helpers.maximum(tmp0, 0)"


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeRun]:
    return fake_runs(monkeypatch)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enter_project(monkeypatch, tmp_path, "def f(x):\n    return x.relu()\n")


def previewed(folder: Path) -> tuple[Fact, ...]:
    frame = StackFrame(str(folder / "a.py"), 2, "f")
    nodes = (KernelNode("relu", "aten.relu", frame),)
    pointwise = Kernel(
        "triton_poi_0",
        "triton",
        "pointwise",
        TRITON,
        nodes=nodes,
        stacks=((frame,),),
        arguments=("arg0_1", "buf0", "1024"),
        grid="Grid1D",
        cost=Cost(4096, 2048, seconds=1.5e-6),
    )
    template = Kernel("triton_tem_1", "triton", "template", "def triton_tem_1(): pass", stacks=((frame,),))
    failed = Kernel("triton_red_2", "triton", "reduction", "def triton_red_2(): pass", stacks=((frame,),))
    texts = (("ttir", "module {}"), ("llir", "define void @k()"), ("ptx", ".version 8.7"))
    others = tuple(f"XBLOCK: {size}" for size in (1, 2, 4, 8, 16))
    return (
        RanDry("h100"),
        GraphCaptured("0/0", (GraphNode("y", "f32[2] cuda:0", frame),), "captured"),
        CodeGenerated("0/0", "inference", "/tmp/c.py", "code", (pointwise, template, failed, pointwise)),
        KernelCompiled("/tmp/c.py", "triton_poi_0", texts, "XBLOCK: 256, num_warps: 4", 24, 0, 512),
        KernelCompiled("/tmp/c.py", "triton_tem_1", texts[:1], "XBLOCK: 32", others=others),
        KernelCompiled("/tmp/c.py", "triton_red_2", (), problem="error: no such layout\nmore"),
        RanDry("h100", (UNKNOWN,)),  # what is unknown is known at the end
    )


def test_kernels_of_a_preview_tell_what_they_use_and_what_is_unknown(
    fake: type[FakeRun], folder: Path
) -> None:
    fake.facts = previewed(folder)
    result = fullgraph("kernels", "--device", "h100", "a.py")
    assert result.exit_code == 0
    assert result.stdout == (
        "Graph 0/0, a.py:2, inference\n"
        "  a.py:2  triton_poi_0  relu\n"
        "          launched on Grid1D with (arg0_1, buf0, 1024)\n"
        "          XBLOCK: 256, num_warps: 4\n"
        "          24 registers, 0 spills, 512 B of shared memory\n"
        "          compiled to TTIR, LLVM IR, PTX\n"
        "          at least 1.5 us: reads 4 KiB, writes 2 KiB\n"
        "  a.py:2  triton_tem_1\n"
        "          XBLOCK: 32: one of 6 settings that autotuning would try\n"
        "            or XBLOCK: 1\n"
        "            or XBLOCK: 2\n"
        "            or XBLOCK: 4\n"
        "            or XBLOCK: 8\n"
        "            or 1 more\n"
        "          compiled to TTIR\n"
        "  a.py:2  triton_red_2\n"
        "          not compiled: error: no such layout\n"
        "  a.py:2  triton_poi_0  relu\n"
        "\n"
        "4 kernel launches in 1 piece of code\n"
        f"{SENTENCE}\n"
        f"- {UNKNOWN}\n"
    )


def test_the_files_of_a_preview_say_that_nothing_ran(fake: type[FakeRun], folder: Path) -> None:
    fake.facts = previewed(folder)
    fullgraph("kernels", "--device", "h100", "a.py", "-o", "out")
    out = folder / "out" / "0_0_inference"
    assert (out / "triton_poi_0.py").read_text().splitlines()[:2] == [
        f"# {SENTENCE}",
        "# launched on Grid1D with (arg0_1, buf0, 1024)",
    ]
    assert (out / "triton_poi_0.py").read_text().endswith(f"\n{TRITON}\n")
    begins = {name: (out / f"triton_poi_0.{name}").read_text().split()[0] for name in ("ttir", "llir", "ptx")}
    assert begins == {"ttir": "//", "llir": ";", "ptx": "//"}
    assert "#   or XBLOCK: 16\n" in (out / "triton_tem_1.py").read_text(), "the files name all settings"
    assert "# not compiled: error: no such layout\n" in (out / "triton_red_2.py").read_text()
    index = (folder / "out" / "index.md").read_text().splitlines()
    assert index[1:4] == ["", SENTENCE, f"- {UNKNOWN}"]
    assert (out / "output_code.py").read_text() == "code"


def test_a_preview_that_writes_no_code_says_why(fake: type[FakeRun]) -> None:
    fake.facts = (RanDry("h100", (UNKNOWN,)), TargetProblem("warning", "The dry run ends here."))
    result = fullgraph("kernels", "--device", "h100", "a.py")
    assert "The dry run ends here" in result.stdout
    assert result.stdout.endswith(f"No code was written.\n{SENTENCE}\n- {UNKNOWN}\n")


def test_the_device_goes_to_the_run_and_building_changes_nothing(fake: type[FakeRun], folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        "[tool.fullgraph]\ndevice = 'a100'\npreview-python = 'gpu/python'\n"
    )
    (folder / "gpu" / "bin").mkdir(parents=True)
    (folder / "gpu" / "bin" / "python").touch()
    for words in (
        ("kernels", "a.py"),
        ("kernels", "a.py", "--build"),
        ("kernels", "a.py", "--build", "--device", "h100", "--preview-python", "gpu"),
        ("check", "a.py", "--device", "l4"),
    ):
        assert fullgraph(*words).exit_code == 0
    asked = [(settings, request) for settings, request in fake.asked if isinstance(request, RunRequest)]
    assert [(request.depth, request.switches.device) for _, request in asked] == [
        ("kernels", "a100"),
        ("kernels", "a100"),
        ("kernels", "h100"),
        ("graph", "l4"),
    ]
    assert [settings.preview_python for settings, _ in asked] == [
        str(folder / "gpu" / "python"),
        str(folder / "gpu" / "python"),
        str(folder / "gpu" / "bin" / "python"),
        str(folder / "gpu" / "python"),
    ]


def test_without_a_device_kernels_are_built_on_demand(fake: type[FakeRun]) -> None:
    fullgraph("kernels", "a.py", "--build")
    settings, request = fake.asked[-1]
    assert (request.depth, request.switches.device, settings.preview_python) == ("build", "", None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kernels", "a.py", "--device", "h1000"), "'h1000' is not one of 'a100', 'l4'"),
        (("stages", "a.py", "--device", "h100"), "No such option"),
        (("recompiles", "a.py", "--device", "h100"), "No such option"),
    ],
)
def test_a_device_that_is_unknown_or_has_no_meaning_is_refused(words: tuple[str, ...], message: str) -> None:
    result = fullgraph(*words)
    assert (result.exit_code, message in result.stderr) == (2, True)


def test_a_check_says_that_it_had_no_data(fake: type[FakeRun]) -> None:
    fake.facts = (RanDry(),)
    assert fullgraph("check", "a.py").stdout == (
        "nothing was compiled (ran 0.5 s) - torch 2.13.0 - dry run: without data\n"
    )
    assert fullgraph("recompiles", "a.py").stdout.endswith(" - torch 2.13.0 - dry run: without data\n")
    fake.facts = (RanDry("h100", (UNKNOWN,)),)
    assert fullgraph("check", "a.py").stdout.endswith(f" - {SENTENCE}\n")
    told = json.loads(fullgraph("check", "a.py", "--format", "json").stdout)
    assert told["dry"] == {"device": "h100", "unknown": [UNKNOWN]}
    assert fullgraph("check", "a.py", "--format", "github").stdout == (
        f"::notice title=fullgraph::a.py: {SENTENCE}\n"
    )
    (run,) = json.loads(fullgraph("check", "a.py", "--format", "sarif").stdout)["runs"]
    (invocation,) = run["invocations"]
    assert invocation["toolExecutionNotifications"] == [
        {"level": "note", "message": {"text": f"a.py: {SENTENCE}"}}
    ]


def test_the_table_of_devices() -> None:
    header, *rows = fullgraph("devices").stdout.splitlines()
    assert header.split("  ")[0] == "name"
    assert [row.split()[0] for row in rows] == [*DEVICES]
    assert "h100     NVIDIA H100 80GB HBM3                   9.0  132   80 GiB  3.35 TB/s" in rows
    told = json.loads(fullgraph("devices", "--format", "json").stdout)
    assert [item["name"] for item in told] == [*DEVICES]
    assert told[0] == {
        "name": "a100",
        "gpu": "NVIDIA A100-SXM4-80GB",
        "capability": [8, 0],
        "multiprocessors": 108,
        "memory": 80 << 30,
        "bandwidth": 2.03904e12,
        "source": "NVIDIA A100 Tensor Core GPU Architecture whitepaper",
    }
