"""An operator that only a function of torch may call is told with that function."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import CompileFailure, StackFrame
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
TEXT = """\
@torch.compile
def f(x):
    def body(carry, position):
        return [carry + x[position.item()], position]
    return {call}
"""
SAID = "Expected combine_fn to be wrapped as functools.partial in scan user-facing api or a graph module."
RAW = "torch.ops.higher_order.scan(body, [x[0]], [x], [])"


def only(call: str, error: str = "UncapturedHigherOrderOpError", said: str = SAID) -> Finding:
    source = SourceFile(FILE, TEXT.format(call=call))
    stack = (StackFrame(FILE, 5, "f", 11, 5, 11 + len(call)),)
    hints = ("This graph break may be difficult to debug. Please report an issue to PyTorch for assistance.",)
    fact = CompileFailure("0/0", "capture", error, "improper combine_fn", stack, "GB0342", said, hints)
    (found,) = fold("program.py", 1, "2.13.0", (fact,), Workspace(Path("/w"), {FILE: source}.get)).findings
    return found


def test_the_function_is_named_and_what_its_body_must_not_do() -> None:
    found = only(RAW)
    assert "`torch.ops.higher_order.scan` is an internal operator" in found.explanation
    function, item = found.hints
    assert "`torch._higher_order_ops.scan(body, init, xs)`" in function
    assert item == "`body` must not read a number from a tensor: `.item()` (line 4)."


def test_an_operator_at_which_dynamo_fails_is_told_alike() -> None:
    found = only("torch.ops.higher_order.associative_scan(add, [x], [])", "InternalTorchDynamoError", "")
    (hint,) = found.hints
    assert "`torch._higher_order_ops.associative_scan(add, xs, dim)`" in hint


@pytest.mark.parametrize(
    ("call", "said"),
    [("torch.ops.higher_order.cond(x)", SAID), ("scan(body, x[0], x)", SAID), (RAW, "Another.")],
)
def test_other_errors_and_operators_keep_the_words_of_torch(call: str, said: str) -> None:
    assert not any("_higher_order_ops" in hint for hint in only(call, said=said).hints)
