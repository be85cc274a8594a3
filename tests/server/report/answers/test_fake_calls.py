"""A call that fails with fake tensors is told with its own error, and with what to write if that is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import CompileFailure, FrameStarted, GraphBreak, StackFrame
from fullgraph_compiler.trace.messages import BUG
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
LIBRARY = StackFrame("/w/.venv/lib/python3.11/site-packages/torch/_library/custom_ops.py", 863, "__call__")
TEXT = """\
@torch.library.custom_op("demo::scale", mutates_args=())
def scale(values: torch.Tensor) -> torch.Tensor:
    return values * 2


@torch.compile
def f(x):
    return scale(x)
"""


def only(
    error: str, *, text: str = TEXT, call: str = "call_function demo.scale.default(*(x,), **{})"
) -> Finding:
    explanation = f"Dynamo failed to run FX node with fake tensors: {call}: got {error}"
    said = "RuntimeError when making fake tensor call"
    stack = (StackFrame(FILE, 8, "f"), LIBRARY)
    fact = CompileFailure("0/0", "capture", "TorchRuntimeError", said, stack, "GB4315", explanation)
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    (finding,) = fold("program.py", 1, "2.13.0", (fact,), workspace).findings
    return finding


def test_an_operator_without_a_fake_kernel_is_named_where_it_is_defined() -> None:
    finding = only(
        "RuntimeError('There was no fake impl registered for <CustomOpDef(demo::scale)>. This is')"
    )
    assert finding.explanation.startswith("`demo::scale` (line 1) has no fake kernel")
    assert "`@scale.register_fake`" in finding.hints[0]
    assert "`torch.empty_like(values)`" in finding.hints[0]


def test_a_write_into_a_parameter_is_refused_in_all_code() -> None:
    finding = only(
        "RuntimeError('a leaf Variable that requires grad is being used in an in-place operation.')"
    )
    assert "an error in uncompiled code, too" in finding.explanation
    assert "torch.no_grad()" in finding.hints[0]


PRIMAL = (
    "RuntimeError('InferenceMode::is_enabled() && self.is_inference() INTERNAL ASSERT FAILED. You should NOT "
    "call this method directly as native::_fw_primal. Please use the dispatcher.')"
)


@pytest.mark.parametrize(
    ("used", "instead"),
    [
        ("jacfwd(f)", "Use `torch.func.jacrev` instead of `jacfwd`, which "),
        ("hessian(f)", "Use `torch.func.jacrev(torch.func.jacrev(f))` instead of `hessian(f)`, which "),
        ("jvp(f, (x,), (t,))", "Differentiate in reverse mode, which "),
    ],
)
def test_forward_mode_under_vmap_is_for_reverse_mode(used: str, instead: str) -> None:
    finding = only(PRIMAL, text=f"{TEXT}g = vmap(lambda x: {used})\n")
    assert "an error within torch" in finding.explanation
    uncompiled = "can be compiled, or leave the function that calls `vmap` uncompiled."
    assert finding.hints == (instead + uncompiled,)


def test_forward_mode_without_vmap_is_another_error() -> None:
    assert "INTERNAL ASSERT" in only(PRIMAL).explanation


def test_what_torch_has_not_of_numpy_is_named() -> None:
    finding = only("""AttributeError("'ndarray' object has no attribute '__round__'")""")
    assert finding.explanation.startswith(
        "The call raises AttributeError: 'ndarray' object has no attribute '__round__'. Dynamo computes with"
    )
    assert finding.hints[0].endswith("`torch._dynamo.config.trace_numpy = False`.")


def test_another_error_is_told_by_itself() -> None:
    finding = only(r"""ValueError("it's: got 2\nof 3")""", call="call_method add(*(FakeTensor(...)), **{})")
    assert finding.explanation == "The call raises ValueError: it's: got 2\nof 3"
    assert "TORCHDYNAMO_DISABLE=1" in finding.hints[0]


def test_what_is_no_such_error_stays_in_torchs_words() -> None:
    assert "Dynamo failed to run" in only("KeyError(3)").explanation


def test_an_operator_of_a_library_without_a_fake_kernel_gets_the_decorator() -> None:
    reason = "Operator does not support running with fake tensors"
    hints = ("see https://docs.google.com/document for how to fix",)
    context = "unsupported operator: demo.scale.default"
    stack = (StackFrame(FILE, 8, "f"),)
    fact = GraphBreak("0/0", "GB0090", reason, "", hints, context, "", stack, False, f"{reason}\n{context}")
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, TEXT)}.get)
    (finding,) = fold("program.py", 1, "2.13.0", (fact,), workspace).findings
    assert "`demo::scale` (line 1) has no fake kernel" in finding.explanation
    (hint,) = finding.hints
    assert '`@torch.library.register_fake("demo::scale")`' in hint


CAUGHT = """\
def f(x, axis):
    try:
        return {call}
    except {caught}:
        return x

def g(x, axis):
    return x.softmax(dim=axis)
"""


def ended(
    caught: str,
    error: str,
    *stack: StackFrame,
    call: str = "x.softmax(dim=axis)",
    explanation: str = "",
) -> Finding:
    text = CAUGHT.format(call=call, caught=caught)
    fact = CompileFailure("0/0", "capture", error, "Dimension out of range", stack, "", explanation)
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    (finding,) = fold(
        "program.py", 1, "2.13.0", (FrameStarted("0/0", "f", FILE, 1), fact), workspace
    ).findings
    return finding


@pytest.mark.parametrize("caught", ["IndexError", "(ValueError, LookupError)", "Exception as error"])
def test_a_handler_that_compiling_passes_by_is_named(caught: str) -> None:
    finding = ended(caught, "IndexError", StackFrame(FILE, 3, "f"))
    said = caught.partition(" as ")[0]
    assert f"Uncompiled, `except {said}` (line 4) would catch `IndexError`" in finding.explanation
    assert finding.hints == (
        "Test before the call whether it will succeed, instead of catching its error.",
        "Or keep the `try` of line 4 outside of compiled code.",
    )


def test_a_handler_of_a_caller_that_is_compiled_is_named() -> None:
    stack = (StackFrame(FILE, 3, "f"), StackFrame(FILE, 8, "g"))
    assert "(line 4)" in ended("IndexError", "IndexError", *stack, call="g(x, axis)").explanation


def test_an_error_of_dynamo_itself_is_none_that_a_handler_catches() -> None:
    finding = ended("Exception", "AttributeError", StackFrame(FILE, 3, "f"), explanation=BUG)
    assert "would catch" not in finding.explanation


@pytest.mark.parametrize("place", [(3, "KeyError"), (5, "IndexError"), (8, "IndexError")])
def test_other_handlers_are_not_named(place: tuple[int, str]) -> None:
    row, caught = place
    assert "except" not in ended(caught, "IndexError", StackFrame(FILE, row, "f")).explanation
