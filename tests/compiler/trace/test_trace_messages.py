"""Torch's messages about breaks and failures, without a torch that writes them."""

from __future__ import annotations

import pytest
from fullgraph_compiler.trace.messages import parse_message, without_bound_methods

ALIASES = """\
This higher order operator doesn't work unless it is captured completely with torch.compile. \
Got graph break/error:

Encountered aliasing during higher order op tracing
  Higher Order Operator: torch.cond
  Explanation: Higher order ops do not support aliasing. Found in <bound method HigherOrderOperator.name of \
<torch._higher_order_ops.cond.CondOp object at 0x7f79d2ac5450>>
  Hint: Replace `return input` with `return input.clone()` to avoid aliasing.

  Developer debug context: Input-to-output aliasing detected at nodes l_x_ and l_x_ in
     graph():

 For more details about this graph break, please visit: https://x/gb/gb0040.html
"""

OTHER_METADATA = """\
Expected body_fn_output and carried_inputs to have same metadata but found:
pair[1] differ in 'dtype: torch.float64 vs torch.float32', where lhs is FakeTensor(..., size=(8, 8))
  Higher Order Operator: torch.while_loop
"""


def test_an_operator_is_named_where_torch_writes_its_method() -> None:
    message = parse_message(ALIASES)
    assert message.explanation == "Higher order ops do not support aliasing. Found in `cond`"
    assert (message.code, message.operator, message.whole) == ("GB0040", "torch.cond", True)


def test_what_is_found_belongs_to_the_reason() -> None:
    message = parse_message(OTHER_METADATA)
    assert message.reason == (
        "Expected body_fn_output and carried_inputs to have same metadata but found: "
        "pair[1] differ in 'dtype: torch.float64 vs torch.float32'"
    )
    assert message.operator == "torch.while_loop"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a <bound method Net.step of Net(\n  (fc): Linear()\n)> b", "a `Net.step` b"),
        ("<bound method A.f of <__main__.A object at 0x7f>>, <bound method B.g of B()>", "`A.f`, `B.g`"),
        ("<bound method A.f of <bound method B.g of <B>>> and x > 1", "`A.f` and x > 1"),
        ("<bound method A.f of <A", "<bound method A.f of <A"),
        ("nothing <of the> kind", "nothing <of the> kind"),
    ],
)
def test_methods_are_written_by_their_names(text: str, plain: str) -> None:
    assert without_bound_methods(text) == plain


def test_texts_of_methods_that_do_not_end_take_little_time() -> None:
    endless = "<bound method A.f of " * 50_000
    assert without_bound_methods(endless) == endless
