"""The server over real stdio, and debugpy with the launch configurations that it gives."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from dap_client import Stop, debugging
from fullgraph_compiler.cases.case import (
    CaseGraph,
    CaseInput,
    CaseOperation,
    FailureCase,
    NormalValues,
    ResultRef,
    TensorSpec,
)
from fullgraph_compiler.cases.repro import write
from fullgraph_compiler.facts import Failure, FaultLocated
from lsp_session import CONFIG, Editor, uri_of

PROGRAM = """\
import torch

scale = 3


@torch.compiler.disable
def helper(x):
    inner = x * scale
    return inner + 1  # in the helper


# fullgraph: step(torch.full([4], 2.0))
@torch.compile
def step(x):
    y = x * x
    y = y + 1  # in the compiled function
    return helper(y) * y


def test_step():
    total = step(torch.full([4], 2.0)).sum()
    assert total == 320  # outside


if __name__ == "__main__":
    test_step()
"""

TWO = "tensor([2., 2., 2., 2.])"

SPEC = TensorSpec((4,), (1,), "float32", "cpu")
NEG = CaseOperation("neg", "call_function", "torch.ops.aten.neg.default", (ResultRef("x"),), spec=SPEC)
WRONG_NUMBERS = Failure("accuracy", "Numbers", "output 0: off by 2")
"""How a case fails whose lowering of ``neg`` is that of another operator."""


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    lsp_client.set_configuration({"fullgraph": {"activeInterpreter": sys.executable}})
    await lsp_client.open_folder(tmp_path)
    yield
    await lsp_client.shutdown_session()


async def configuration(editor: Editor, target: str, uncompiled: bool = False) -> dict[str, Any]:
    """How the server says that a target starts in a debugger."""
    item = await editor.ask("fullgraph/debugConfiguration", target=target, uncompiled=uncompiled)
    return item["configuration"]


def row_of(file: Path, text: str) -> int:
    """The row that holds a text."""
    lines = file.read_text("utf-8").splitlines()
    return next(row for row, line in enumerate(lines, 1) if text in line)


def wrappers(folder: Path) -> list[Path]:
    """The Python files of TorchInductor that call its kernels."""
    files = (folder / ".fullgraph" / "inductor").rglob("*.py")
    return [file for file in files if "def call(" in file.read_text("utf-8")]


def place(stop: Stop) -> tuple[Path, int]:
    """Where a program has stopped."""
    return Path(stop.filename), stop.row


@pytest.mark.slow
async def test_breakpoints_hold_outside_of_compiled_code_and_in_generated_wrappers(
    editor: Editor, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    launch = await configuration(editor, str(program))
    helper, compiled, outside = (
        row_of(program, text) for text in ("# in the helper", "# in the compiled function", "# outside")
    )
    async with debugging(launch, {program: [helper, compiled, outside]}) as debugger:
        stop = await debugger.stopped()
        assert place(stop) == (program, helper)
        assert stop.variables["inner"] == "tensor([15., 15., 15., 15.])"
        await debugger.go_on(stop)
        stop = await debugger.stopped()
        assert place(stop) == (program, outside)
        assert stop.variables["total"] == "tensor(320.)"
        await debugger.go_on(stop)
        assert await debugger.ended() == 0

    # The next process gets the same wrappers from the same files.
    generated = wrappers(tmp_path)
    calls = {wrapper: [row_of(wrapper, "args.clear()")] for wrapper in generated}
    async with debugging(launch, calls) as debugger:
        stop = await debugger.stopped()
        assert place(stop) in [(wrapper, rows[0]) for wrapper, rows in calls.items()]
        assert stop.function == "call"
        assert stop.variables["arg0_1"] == TWO


@pytest.mark.slow
@pytest.mark.parametrize("target", ["{}::step", "{}", "pytest:{}::test_step"])
async def test_breakpoints_hold_everywhere_in_a_program_that_is_not_compiled(
    editor: Editor, tmp_path: Path, target: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    row = row_of(program, "# in the compiled function")
    launch = await configuration(editor, target.format(program), uncompiled=True)
    async with debugging(launch, {program: [row]}) as debugger:
        stop = await debugger.stopped()
        assert place(stop) == (program, row)
        assert (stop.variables["x"], stop.variables["y"]) == (TWO, "tensor([4., 4., 4., 4.])")
        await debugger.go_on(stop)
        assert await debugger.ended() == 0


def write_repro(folder: Path, lowering: str, failure: Failure) -> Path:
    """A repro where the minifier puts it: of the negation of four numbers, with a lowering of its own."""
    definition = f"def lower(x):\n    {lowering}"
    preamble = (
        "import os",
        "from torch._inductor.lowering import lowerings",
        definition,
        "lowerings[torch.ops.aten.neg.default] = lower",
    )
    graph = CaseGraph(("x",), (NEG,), (ResultRef("neg"),))
    case = FailureCase("aot", "inductor", graph, (CaseInput("x", SPEC, NormalValues(2.0, 0.0)),), preamble)
    fault = FaultLocated(1, "inductor", "aot_eager_decomp_partition", failure, "0/0")
    file = folder / ".fullgraph" / "repros" / "program-1.py"
    file.parent.mkdir(parents=True)
    file.write_text(write(case, fault, "torch"))
    return file


@pytest.mark.slow
async def test_breakpoints_hold_in_a_repro_and_in_its_generated_wrapper(
    editor: Editor, tmp_path: Path
) -> None:
    wrong = "return lowerings[torch.ops.aten.add.Tensor](x, x)"
    repro = write_repro(tmp_path, wrong, WRONG_NUMBERS)
    launch = await configuration(editor, uri_of(repro))
    forward, compared = row_of(repro, "return [neg]"), row_of(repro, "message = mismatch(")
    async with debugging(launch, {repro: [forward, compared]}) as debugger:
        stop = await debugger.stopped()
        assert (place(stop), stop.function) == ((repro, forward), "forward")
        assert (stop.variables["x"], stop.variables["neg"]) == (TWO, "tensor([-2., -2., -2., -2.])")
        # The module is called again as it is traced, and to compare.
        await debugger.set_breakpoints(repro, [compared])
        await debugger.go_on(stop)
        stop = await debugger.stopped()
        assert (place(stop), stop.function) == ((repro, compared), "main")
        assert stop.variables["results"].startswith("[tensor([4., 4., 4., 4.])")
        await debugger.go_on(stop)
        assert await debugger.ended() == 0

    (wrapper,) = wrappers(tmp_path)
    row = row_of(wrapper, "args.clear()")
    async with debugging(launch, {wrapper: [row]}) as debugger:
        stop = await debugger.stopped()
        assert (place(stop), stop.function) == ((wrapper, row), "call")
        assert stop.variables["arg0_1"] == TWO


@pytest.mark.slow
async def test_an_error_stops_the_debugger(editor: Editor, tmp_path: Path) -> None:
    failure = Failure("error", "NotImplementedError", "not for neg")
    repro = write_repro(tmp_path, 'raise NotImplementedError("not for neg")', failure)
    launch = await configuration(editor, uri_of(repro))
    async with debugging(launch, {}) as debugger:
        stop = await debugger.stopped()
        assert stop.reason == "exception"
        assert "not for neg" in await debugger.exception(stop)


@pytest.mark.slow
async def test_a_crash_is_reached_step_by_step(editor: Editor, tmp_path: Path) -> None:
    failure = Failure("crash", "SIGABRT", "ended by SIGABRT")
    repro = write_repro(tmp_path, "os.abort()", failure)
    launch = await configuration(editor, uri_of(repro))
    row = row_of(repro, "os.abort()")
    async with debugging(launch, {repro: [row]}) as debugger:
        stop = await debugger.stopped()
        assert (place(stop), stop.function) == ((repro, row), "lower")
