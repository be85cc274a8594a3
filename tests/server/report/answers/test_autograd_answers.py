"""Errors of AOTAutograd name the statement, operator or setting behind them, and what to write."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import CompileFailure, Fact, FrameStarted, ProgramRaised, StackFrame
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
TORCH = "/w/.venv/lib/python3.11/site-packages/torch"
WRAPPERS = StackFrame(f"{TORCH}/_functorch/_aot_autograd/runtime_wrappers.py", 1, "f")
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [4]], which is output 0 of {node}, is at version 1; expected version 0 instead."
)
DONATED = (
    "This backward function was compiled with non-empty donated buffers which requires create_graph=False"
)


def only(text: str, fact: Fact) -> Finding:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    (finding,) = fold("program.py", 1, "2.13.0", (fact,), workspace).findings
    return finding


def failed(message: str, row: int, function: str = "f") -> CompileFailure:
    said = f"backend='inductor' raised:\nRuntimeError: {message}"
    return CompileFailure("0/0", "backend", "BackendCompilerFailed", said, (StackFrame(FILE, row, function),))


def raised(message: str, row: int) -> ProgramRaised:
    return ProgramRaised("RuntimeError", message, (StackFrame(FILE, row, "<module>"), WRAPPERS), "")


WRITES = """\
@torch.compile
def f(x):
    y = torch.sigmoid(x).requires_grad_()
    {write}
    return y.sum()
"""


def test_the_only_statement_that_writes_in_place_is_named() -> None:
    finding = only(WRITES.format(write="y.mul_(2)"), failed(MODIFIED.format(node="Sigmoid"), 5))
    assert finding.message == "the backward needs the result of `sigmoid`, which is changed in place"
    assert finding.explanation.endswith("`y.mul_(2)` (line 4) writes in place in `f`.")
    assert "torch.no_grad()" in finding.hints[0]


@pytest.mark.parametrize("write", ["y += 1", "y[0] = 1"])
def test_what_writes_in_place_only_in_tensors_is_told_so(write: str) -> None:
    finding = only(WRITES.format(write=write), failed(MODIFIED.format(node="NativeLayerNormBackward0"), 5))
    assert "`native_layer_norm`" in finding.message
    assert finding.explanation.endswith(f"`{write}` (line 4) writes in place, if the target is a tensor.")


def test_a_function_without_such_a_statement_gets_no_line() -> None:
    finding = only(WRITES.format(write="pass"), failed(MODIFIED.format(node="CopySlices"), 5))
    assert "line" not in finding.explanation
    assert "clone" in finding.hints[0]


def test_the_same_error_of_uncompiled_code_has_no_answer() -> None:
    stack = (StackFrame(FILE, 1, "<module>"), StackFrame(f"{TORCH}/autograd/graph.py", 1, "backward"))
    fact = ProgramRaised("RuntimeError", MODIFIED.format(node="SigmoidBackward0"), stack, "")
    assert only("loss.backward()\n", fact).hints == ()


OPERATOR = """\
@torch.library.custom_op("demo::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * 2

torch.compile(scale)(x)
"""


def test_an_operator_without_a_backward_is_named_where_it_is_defined() -> None:
    said = "Trying to backward through demo.scale.default but no autograd formula was registered."
    finding = only(OPERATOR, failed(said, 5))
    assert finding.message == "the operator `demo::scale` has no backward"
    assert "defined on line 1" in finding.explanation
    assert "register_autograd" in finding.hints[0]


def test_an_operator_that_declares_an_alias_is_named() -> None:
    said = (
        "Found a custom (non-ATen) operator whose output has alias annotations: "
        "demo::add(Tensor(a!) out) -> Tensor(a!). We only support functionalizing operators"
    )
    finding = only("\n", failed(said, 1))
    assert finding.message.startswith("the operator `demo::add` declares")
    assert "`-> ()`" in finding.hints[0]


def test_inference_mode_is_named_where_the_program_uses_it() -> None:
    text = "with torch.inference_mode():\n    table = torch.ones(3)\nstep(table)\n"
    finding = only(text, raised("Inference tensors cannot be saved for backward. Please", 3))
    assert finding.explanation.endswith("The program uses it on line 1.")
    assert "torch.no_grad()" in finding.hints[0]


def test_a_backward_that_keeps_its_graph_after_one_that_did_not() -> None:
    finding = only("loss.backward(retain_graph=True)\n", raised(DONATED, 1))
    assert "did not" in finding.message
    assert "donated_buffer = False" in finding.hints[0]
    again = only("torch.autograd.grad(y, x, create_graph=True)\n", raised(DONATED, 1))
    assert "(line 1) still fails when" in again.hints[1]


FIELD = """\
@torch.compile(fullgraph=True)
def f(x):
    energy = (x**3).sum()
    {gradient}
    return {returned}
"""
TRACE = "Set `torch._dynamo.config.trace_autograd_ops = True`"
USES_UP = "this gradient uses up the graph behind `energy`."
TORCHS = "Change `torch._dynamo.config.trace_autograd_ops` to `True`."
GENERAL = (
    f"{TRACE}. If the compiled code returns a tensor that this gradient flows through, return it with "
    "`.detach()`."
)


@pytest.mark.parametrize(
    ("gradient", "returned", "hint"),
    [
        (
            "(g,) = torch.autograd.grad(energy.mean(), x)",
            "energy, g",
            f"{TRACE}, and return `energy.detach()` (line 5): {USES_UP}",
        ),
        ("(g,) = torch.autograd.grad(energy, x)", "g", GENERAL),
        ("(g,) = torch.autograd.grad(loss(energy), x)", "energy, g", GENERAL),
        ("(g,) = torch.autograd.grad(energy, x, create_graph=True)", "energy, g", f"{TRACE}."),
    ],
)
def test_a_gradient_takes_a_result_without_graph_besides_the_setting(
    gradient: str, returned: str, hint: str
) -> None:
    failure = CompileFailure(
        "0/0",
        "capture",
        "Unsupported",
        "using `torch.autograd.grad`",
        (StackFrame(FILE, 4, "f"),),
        code="GB9186",
        hints=(TORCHS,),
    )
    started = FrameStarted("0/0", "f", FILE, 1)
    text = FIELD.format(gradient=gradient, returned=returned)
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    (found,) = fold("program.py", 1, "2.13.0", (started, failure), workspace).findings
    assert found.hints == (
        hint,
        "Or leave `fullgraph=True` (line 1) out: then this call breaks the graph, and runs eagerly.",
    )


STORAGE = "Cannot access storage of TensorWrapper"
PULLBACK = """\
def f(x):
    value, pull = torch.func.vjp(g, x)
    return {returned}
"""


@pytest.mark.parametrize("returned", ["value, pull", "pull", "{'pull': pull}"])
def test_a_function_of_vjp_that_is_returned_is_named(returned: str) -> None:
    finding = only(PULLBACK.format(returned=returned), failed(STORAGE, 2))
    assert finding.explanation.startswith(
        "`f` returns the function that `torch.func.vjp` (line 2) creates. That function holds tensors"
    )
    assert finding.hints == ("Call that function within `f` and return its result, or leave `f` uncompiled.",)


def test_a_function_of_vjp_is_named_where_the_pair_is_returned() -> None:
    text = "def f(x):\n    return torch.func.vjp(g, x)\n"
    assert only(text, failed(STORAGE, 2)).explanation.startswith("`f` returns the function")


@pytest.mark.parametrize("returned", ["value", "pull(value)", "value, pull(value)"])
def test_a_function_of_vjp_that_is_called_is_not_blamed(returned: str) -> None:
    assert not only(PULLBACK.format(returned=returned), failed(STORAGE, 2)).explanation
