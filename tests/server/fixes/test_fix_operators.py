"""Functions that become operators of torch: which, of what the run has seen, and how they are written."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fixing import FILE, body, span_of
from fullgraph_compiler.facts import CallSeen, CallsSeen, TensorSeen, ValueSeen
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.model import Fix, RuleContext, RunCounts, Verdict
from fullgraph_server.fixes.operators.result_sizes import UnknownSizeError, made_result
from fullgraph_server.fixes.operators.rule import calls_wanted, operators, refusal
from fullgraph_server.fixes.search import try_finding
from fullgraph_server.report.model import Finding, FrameCompilation, Report
from fullgraph_server.workspace.positions import Span, StackCall
from fullgraph_server.workspace.source import SourceFile

NONE = ValueSeen("none")


def tensor(*shape: int, dtype: str = "float32", **more: Any) -> ValueSeen:
    seen = TensorSeen(dtype, shape, "cpu", more.pop("contiguous", True), more.pop("grad", False), **more)
    return ValueSeen("tensor", (seen,))


def several(*values: ValueSeen, is_tuple: bool = False) -> ValueSeen:
    return ValueSeen("tensors", tuple(item.tensors[0] for item in values), is_tuple=is_tuple)


def number(value: int) -> ValueSeen:
    return ValueSeen("int", numbers=(value,))


def call(*arguments: ValueSeen, to: ValueSeen, made: bool = False) -> CallSeen:
    return CallSeen(arguments, to, made)


SIZES = {
    "x.new_empty(x.shape)": [call(tensor(2, 3), to=tensor(2, 3)), call(tensor(5), to=tensor(5))],
    "x.new_empty((x.shape[1], x.shape[0]))": [
        call(tensor(2, 3), to=tensor(3, 2)),
        call(tensor(4, 5), to=tensor(5, 4)),
    ],
    "x.new_empty((x.shape[0], k))": [
        call(tensor(2, 3), number(3), to=tensor(2, 3)),
        call(tensor(2, 3), number(4), to=tensor(2, 4)),
    ],
    "x.new_empty((8,), dtype=torch.int64)": [
        call(tensor(2), to=tensor(8, dtype="int64")),
        call(tensor(3), to=tensor(8, dtype="int64")),
    ],
    "x.new_empty(())": [call(tensor(2), to=tensor()), call(tensor(3), to=tensor())],
    "x.new_empty((x.shape[0] + 1,))": [call(tensor(2), to=tensor(3)), call(tensor(3), to=tensor(4))],
    "x.new_empty((x.shape[0] // 2,))": [call(tensor(n), to=tensor(n // 2)) for n in (4, 5, 9)],
    "x.new_empty((2 * x.shape[0],))": [call(tensor(2), to=tensor(4)), call(tensor(3), to=tensor(6))],
    "x.new_empty((x.shape[0] * x.shape[1],))": [
        call(tensor(2, 3), to=tensor(6)),
        call(tensor(4, 5), to=tensor(20)),
    ],
    "x.new_empty((x.shape[0] - k + 1,))": [
        call(tensor(9), number(3), to=tensor(7)),
        call(tensor(8), number(4), to=tensor(5)),
        call(tensor(5), number(2), to=tensor(4)),
    ],
    "x.new_empty((min(x.shape[0], k),))": [
        call(tensor(9), number(3), to=tensor(3)),
        call(tensor(2), number(4), to=tensor(2)),
    ],
    "x[0].new_empty((sum(item.shape[0] for item in x),))": [
        call(several(tensor(2), tensor(3)), to=tensor(5)),
        call(several(tensor(4), tensor(4)), to=tensor(8)),
        call(several(tensor(1), tensor(9)), to=tensor(10)),
    ],
    'torch.empty((x,), dtype=torch.float32, device="cpu")': [
        call(number(2), to=tensor(2)),
        call(number(3), to=tensor(3)),
    ],
}


@pytest.mark.parametrize("expected", SIZES)
def test_sizes_are_written_as_they_hold_in_all_calls(expected: str) -> None:
    calls = SIZES[expected]
    names = ["x", "k"][: len(calls[0].arguments)]
    results = [item.result.tensors[0] for item in calls]
    assert made_result(names, calls, results, "torch") == expected


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        (((3, 2), (3, 1)), "depend on values"),
        (((3, 2), (4, 9), (5, 4), (7, 1)), "no simple rule"),
    ],
)
def test_sizes_that_follow_no_rule_are_not_told(sizes: Sequence[tuple[int, int]], reason: str) -> None:
    calls = [call(tensor(given), to=tensor(result)) for given, result in sizes]
    with pytest.raises(UnknownSizeError, match=reason):
        made_result(["x"], calls, [item.result.tensors[0] for item in calls], "torch")


def test_types_that_follow_no_rule_are_not_told() -> None:
    calls = [call(tensor(3), to=tensor(3)), call(tensor(3, dtype="int64"), to=tensor(3, dtype="bool"))]
    with pytest.raises(UnknownSizeError, match="the dtype of its results"):
        made_result(["x"], calls, [item.result.tensors[0] for item in calls], "torch")


# -- the rule ------------------------------------------------------------------------------------------

TEXT = body(
    """
    import torch


    def ranked(x, k=1):
        return slow(x)[:k]


    @torch.compile
    def f(x):
        y = ranked(x + 1, 2)
        return y + ranked(k=3, x=y)


    def main(x):
        return f(x)
    """
)
SEEN = CallsSeen(
    1,
    (
        call(tensor(4, 5), number(2), to=tensor(2, 5)),
        call(tensor(6, 5), number(3), to=tensor(3, 5), made=True),
        call(tensor(6, 7), number(3), to=tensor(3, 7), made=True),
    ),
)
SWAPPED = CallsSeen(1, tuple(CallSeen(item.arguments[::-1], item.result, item.made) for item in SEEN.calls))
"""The same calls with the arguments in the order of ``ranked(k=3, x=y)``."""


def context_of(
    text: str, at: str, *stack: tuple[str, str], compiled: str = "f"
) -> tuple[Finding, RuleContext]:
    """A finding at a text; the stack has a text of the row of each frame, and its function."""
    source = SourceFile(FILE, text)
    frames = tuple(StackCall(FILE, span_of(source, row).row, function) for row, function in stack)
    finding = Finding(
        "graph-break",
        "GB0007",
        "warning",
        "",
        span_of(source, at),
        stack=frames,
        compile_ids=frozenset({"0/0"}),
    )
    name = Span(FILE, 1, 1, 1, 1)
    compilations = (FrameCompilation("0/0", compiled, name, 0.0, 0.0, ""),)
    return finding, RuleContext(Report(FILE, 1, compilations=compilations), {FILE: source})


def offered(
    text: str, seen: CallsSeen, at: str = "ranked(x + 1, 2)", *stack: tuple[str, str]
) -> tuple[list[Fix], str]:
    """The fixes where only the first call is come to, and why there are none."""
    finding, context = context_of(text, at, *stack)
    first, *_ = calls_wanted(finding, context)
    context = RuleContext(context.report, context.files, {first: seen})
    return list(operators(finding, context)), refusal(finding, context)


def operator_of(text: str, seen: CallsSeen, at: str = "ranked(x + 1, 2)", *stack: tuple[str, str]) -> str:
    """The text with the operator."""
    found, refused = offered(text, seen, at, *stack)
    assert not refused, refused
    (fix,) = [item for item in found if item.rule == "custom-operator"]
    made = edited(SourceFile(FILE, text), fix.edits)
    ast.parse(made)
    return made


def test_an_operator_stands_behind_the_function_and_its_calls_call_it() -> None:
    text = TEXT.replace(", x=y)", ", x=y) - other(y)")
    finding, context = context_of(
        text, "slow(x)", ("f(x)", "main"), ("ranked(x + 1", "f"), ("slow", "ranked")
    )
    wanted = calls_wanted(finding, context)
    assert [context.files[FILE].line(span.row).strip()[:10] for span in wanted] == [  # type: ignore[union-attr]
        "y = ranked",
        "return y +",
    ]
    context = RuleContext(context.report, context.files, dict(zip(wanted, (SEEN, SWAPPED), strict=True)))
    (fix,) = operators(finding, context)
    assert edited(SourceFile(FILE, text), fix.edits) == text.replace(
        "slow(x)[:k]\n",
        """slow(x)[:k]


@torch.library.custom_op("model::ranked", mutates_args=())
def ranked_op(x: torch.Tensor, k: int) -> torch.Tensor:
    return ranked(x, k)


@ranked_op.register_fake
def _(x, k):
    return x.new_empty((k, x.shape[1]))
""",
    ).replace("y = ranked(x + 1", "y = ranked_op(x + 1").replace("+ ranked(k=3", "+ ranked_op(k=3")
    assert fix.safety == "unsafe"
    assert "The source of `slow` was not read" in fix.change
    assert fix.title == "Make `ranked` a custom operator"
    assert fix.operator is not None
    assert fix.operator.seen == "2 calls of it and 4 others with other values"


def test_a_call_that_the_program_does_not_come_to_stays() -> None:
    finding, context = context_of(TEXT, "ranked(x + 1, 2)")
    first, second = calls_wanted(finding, context)
    context = RuleContext(context.report, context.files, {first: SEEN, second: CallsSeen(2)})
    (fix,) = [item for item in operators(finding, context) if item.rule == "custom-operator"]
    assert "+ ranked(k=3" in edited(SourceFile(FILE, TEXT), fix.edits)


def test_one_size_is_told() -> None:
    found, _ = offered(TEXT, CallsSeen(1, SEEN.calls[:1]))
    assert [item.operator.seen for item in found if item.operator] == ["only one size was seen"]


@pytest.mark.parametrize(
    "at",
    [
        pytest.param("g(x)", id="a local function"),
        pytest.param("torch.sort(x)", id="torch"),
        pytest.param("sorted(x)", id="a builtin"),
        pytest.param("self.part(x)", id="a method"),
        pytest.param("ranked(*x)", id="arguments in a list"),
        pytest.param("done_op(x)", id="an operator"),
        pytest.param("compiled(x)", id="a compiled function"),
    ],
)
def test_only_functions_of_modules_become_operators(at: str) -> None:
    text = TEXT + body(
        f"""
        @torch.library.custom_op("a::done", mutates_args=())
        def done_op(x: torch.Tensor) -> torch.Tensor:
            return x + 1


        @torch.compile(dynamic=True)
        def compiled(x):
            return x


        def h(self, x, g):
            return {at}
        """
    )
    finding, context = context_of(text, at)
    assert calls_wanted(finding, context) == ()
    assert refusal(finding, context) == (
        "`self.part` works on an object, which a custom operator cannot take" if "self" in at else ""
    )


def test_what_calls_the_compiled_function_is_left_alone() -> None:
    finding, context = context_of(TEXT, "ranked(x + 1, 2)", ("f(x)\n", "main"), ("ranked(x + 1", "f"))
    rows = {span.row for span in calls_wanted(finding, context)}
    assert rows == {
        span_of(SourceFile(FILE, TEXT), at).row for at in ("ranked(x + 1, 2)", "ranked(k=3, x=y)")
    }


@pytest.mark.parametrize(
    ("head", "place"),
    [
        ("import torch as th\nimport fast\n", 'import fast\n\n\n@th.library.custom_op("model::ranked"'),
        ("import fast\nimport torch\n", 'import torch\n\n\n@torch.library.custom_op("model::ranked"'),
        ("from torch import nn\nimport fast\n", "import fast\nimport torch\n\n\n@torch.library.custom_op("),
    ],
)
def test_an_imported_function_becomes_one_behind_the_imports(head: str, place: str) -> None:
    text = head + "def f(x):\n    return fast.ranked(x, 2)\n"
    made = operator_of(text, SEEN, "fast.ranked(x, 2)")
    assert place in made
    assert "return fast.ranked(x, x_2)\n" in made
    assert made.endswith("\n\n\ndef f(x):\n    return ranked_op(x, 2)\n")


def test_names_are_new() -> None:
    text = TEXT.replace("import torch\n", 'import torch\n\nranked_op = 1\nNAME = "model::ranked"\n')
    made = operator_of(text, SEEN)
    assert '@torch.library.custom_op("model::ranked_2", mutates_args=())\ndef ranked_2_op(' in made
    text = TEXT.replace("import torch\n", "import torch\n\n\ndef _ranked_setup(): pass\n")
    assert "def ranked_2_op(" in operator_of(text, SEEN)


def test_what_is_changed_and_what_aliases_is_told_to_torch() -> None:
    seen = CallsSeen(1, (call(tensor(4, changed=True), number(2), to=tensor(2, aliases=True)),))
    made = operator_of(TEXT, seen)
    assert 'mutates_args=("x",))' in made
    assert "return ranked(x, k).clone()\n" in made
    mixed = several(tensor(4), tensor(4, contiguous=False, aliases=True), is_tuple=True)
    made = operator_of(TEXT, CallsSeen(1, (call(tensor(4), number(2), to=mixed),)))
    assert "-> tuple[torch.Tensor, torch.Tensor]:" in made
    assert "return result_1, result_2.clone(memory_format=torch.contiguous_format)\n" in made


SOURCES = {
    "an argument that it changes on another path": (
        "if len(x) > 9:\n        x.clamp_(0, 1)\n    return x * 2",
        'mutates_args=("x",))',
    ),
    "a result that is its argument on another path": (
        "if len(x) > 9:\n        return x\n    return x * 2",
        "return ranked(x, k).clone()",
    ),
    "random numbers on another path": (
        "return x * torch.rand(3) if len(x) > 9 else x * 2",
        "tags=torch.Tag.nondeterministic_seeded",
    ),
    "nothing else": ("return x * 2", "mutates_args=())"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_what_no_call_has_shown_is_declared_from_the_source(name: str) -> None:
    body_text, line = SOURCES[name]
    text = TEXT.replace("return slow(x)[:k]", body_text).replace("ranked(k=3, x=y)", "ranked(k=3, x=y * 2)")
    assert line in operator_of(text, SEEN)
    found, _ = offered(text, SEEN)
    assert [fix.safety for fix in found] == ["safe"]


@pytest.mark.parametrize(
    ("body_text", "sentence"),
    [
        (
            "LEDGER.append(x)\n    return x * 2",
            "`ranked` changes `LEDGER`, and torch removes an operator call",
        ),
        ("if len(x) > 9:\n        print(x)\n    return x * 2", "`ranked` calls `print`, and torch removes"),
        ("global COUNT\n    COUNT += 1\n    return x * 2", "`ranked` changes `COUNT`, and torch removes"),
        ("return noted(x)", "`ranked` changes `LEDGER`, and torch removes an operator call"),
    ],
)
def test_an_operators_side_effects_are_never_dropped(body_text: str, sentence: str) -> None:
    head = (
        "import torch\n\nLEDGER = []\nCOUNT = 0\n\n\ndef noted(x):\n    LEDGER.append(1)\n    return x * 2\n"
    )
    text = TEXT.replace("return slow(x)[:k]", body_text).replace("import torch\n", head, 1)
    found, refused = offered(text, SEEN)
    assert found == []
    assert refused.startswith(sentence)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("slow(x)[:k]", "x[:k]", "Its result is a copy, but the function may return `y` itself"),
        ("slow(x)[:k]", "x * TABLE['a']", "It reads `TABLE`, which compiled code may change only after"),
        ("slow(x)[:k]", "x * Config.scale", "It reads `Config`, which compiled code may change only after"),
        ("slow(x)[:k]", "lib.fast(x)", "The source of `lib.fast` was not read"),
    ],
)
def test_an_operator_that_others_can_tell_is_unsafe(old: str, new: str, reason: str) -> None:
    head = (
        "import torch\n\nTABLE = {'a': 1}\n\n\nclass Config:\n    scale = 1\n\n\n"
        "def scaled(n):\n    TABLE['a'] = n\n    Config.scale = n\n"
    )
    text = TEXT.replace(old, new).replace("import torch\n", head, 1)
    finding, context = context_of(text, "ranked(x + 1, 2)")
    wanted = calls_wanted(finding, context)
    context = RuleContext(context.report, context.files, dict(zip(wanted, (SEEN, SWAPPED), strict=True)))
    (fix,) = [item for item in operators(finding, context) if item.rule == "custom-operator"]
    assert fix.safety == "unsafe"
    assert reason in fix.change


def test_a_result_that_nothing_reads_is_none() -> None:
    text = TEXT.replace("y = ranked(x + 1, 2)", "ranked(x + 1, 2)").replace("y + ranked(k=3, x=y)", "x")
    seen = CallsSeen(1, (call(tensor(4, changed=True), number(2), to=tensor(4, aliases=True)),))
    made = operator_of(text, seen)
    assert "-> None:\n    ranked(x, k)\n" in made
    assert "def _(x, k):\n    return None\n" in made


@pytest.mark.parametrize(
    ("values", "kind", "given"),
    [
        ((number(1), ValueSeen("float")), "float", "k"),
        ((number(1), NONE), "int | None", "k"),
        ((NONE,), "torch.Tensor | None", "k"),
        ((ValueSeen("ints", numbers=(1, 2), is_tuple=True),), "list[int]", "tuple(k)"),
        ((several(tensor(1)),), "list[torch.Tensor]", "k"),
        ((ValueSeen("dtype"),), "torch.dtype", "k"),
        ((ValueSeen("str"),), "str", "k"),
    ],
)
def test_arguments_have_the_types_that_were_seen(values: Sequence[ValueSeen], kind: str, given: str) -> None:
    made = operator_of(TEXT, CallsSeen(1, tuple(call(tensor(3), item, to=tensor(3)) for item in values)))
    assert (
        f"def ranked_op(x: torch.Tensor, k: {kind}) -> torch.Tensor:\n    return ranked(x, {given})" in made
    )


def test_gradients_come_from_a_second_operator() -> None:
    seen = call(tensor(4, grad=True), number(2), to=tensor(4, grad=True))
    made = operator_of(TEXT, CallsSeen(1, (seen,)))
    assert "(x_grad,) = ranked_gradient_op(grad_of_result, x, ctx.k)\n    return x_grad, None\n" in made
    assert "ranked_op.register_autograd(_ranked_backward, setup_context=_ranked_setup)\n" in made
    none = call(tensor(4, grad=True), number(2), to=tensor(4))
    made = operator_of(TEXT, CallsSeen(1, (none,)))
    assert "ctx.mark_non_differentiable(output)" in made
    assert "return None, None\n" in made
    assert "register_autograd" not in operator_of(TEXT, SEEN)


@pytest.mark.parametrize(
    ("seen", "sentence"),
    [
        (CallsSeen(1, problem="draws random numbers"), "`ranked` draws random numbers"),
        (
            CallsSeen(1, (call(tensor(3), ValueSeen("other", text="Config"), to=tensor(3)),)),
            "`ranked` gets `Config` as `k`, which a custom operator cannot take",
        ),
        (
            CallsSeen(1, (call(tensor(3), number(1), to=ValueSeen("float")),)),
            "`ranked` returns `float`, but a custom operator returns tensors",
        ),
        (
            CallsSeen(1, (call(tensor(3), number(1), to=NONE),)),
            "`ranked` returns nothing and changes no tensor: torch may remove the call",
        ),
        (
            CallsSeen(1, (call(tensor(3), number(1), to=tensor(3)), call(tensor(3), number(1), to=NONE))),
            "`ranked` returns results of several types, but an operator has one result type",
        ),
        (
            CallsSeen(1, (call(tensor(3, grad=True, changed=True), number(1), to=tensor(3)),)),
            "`ranked` changes a tensor in place while gradients are recorded",
        ),
        (
            CallsSeen(
                1, (call(tensor(3), number(1), to=tensor(2)), call(tensor(3), number(1), to=tensor(1)))
            ),
            (
                "`ranked` has results that do not follow from its arguments: "
                "the sizes of its results depend on values"
            ),
        ),
    ],
)
def test_what_no_operator_can_be_is_told(seen: CallsSeen, sentence: str) -> None:
    assert offered(TEXT, seen) == ([], sentence)


def test_what_was_made_and_leads_to_nothing_is_no_evidence() -> None:
    empty = call(tensor(1, 5), number(2), to=tensor(0, 5, dtype="int64"), made=True)
    made = operator_of(TEXT, CallsSeen(1, (*SEEN.calls, empty)))
    assert "x.new_empty((k, x.shape[1]))" in made


class _Prover:
    """Says what is verified, and notes which calls it is asked for."""

    def __init__(self, verified: str) -> None:
        self._verified = verified
        self.asked: list[Span] = []

    async def try_lines(self, *_: object) -> None:
        """Try nothing ahead."""

    async def calls(self, _: ExperimentState, places: Sequence[Span]) -> dict[Span, CallsSeen]:
        self.asked += places
        return {places[0]: SEEN}

    async def prove(
        self, _: ExperimentState, __: ExperimentState, fix: Fix, ___: Finding, *, whole: bool
    ) -> tuple[Verdict, None]:
        counts = RunCounts(0, 0, 0)
        return Verdict(fix.rule == self._verified and not whole, "", counts, counts), None

    async def with_fixes(self, state: ExperimentState, _: Sequence[Fix]) -> ExperimentState:
        return state

    async def confirmed(self, _: ExperimentState, __: ExperimentState, ___: Fix, verdict: Verdict) -> Verdict:
        return verdict


@pytest.mark.parametrize("verified", ["first", "custom-operator"])
async def test_calls_are_observed_only_where_nothing_else_is_verified(verified: str) -> None:
    finding, context = context_of(TEXT, "ranked(x + 1, 2)")
    report = Report(FILE, 1, compilations=context.report.compilations, files=context.files)

    def candidates(finding: Finding, context: RuleContext) -> list[Fix]:
        return [Fix("first", "", "", "safe", "", ()), *operators(finding, context)]

    prover, state = _Prover(verified), ExperimentState({}, report, "", Path())
    tried = await try_finding(prover, state, state, finding, candidates)  # type: ignore[arg-type]
    best = tried.best()
    assert best is not None
    assert best.fix.rule == verified
    assert bool(prover.asked) == (verified == "custom-operator")


# -- tracing what a function computes with tensors, without its Python -----------------------------------

TRACED = body(
    """
    import hashlib
    import os
    import torch
    from settings import SCALE
    from elsewhere import helper

    SIZES = (1, 2 * 3)
    TABLE = {"a": 1}
    COUNT = 0
    LAYER = torch.nn.Dropout()


    class Config:
        scale = 2


    def counted():
        global COUNT
        COUNT += 1
        return COUNT


    def fixed(names):
        return [hashlib.md5(name.encode()).digest()[0] * SIZES[0] for name in names]


    def opaque(x, names):
        WHAT


    @torch.compile
    def f(x):
        return opaque(x, ("a", "b"))["y"] + 1
    """
)


@pytest.mark.parametrize(
    ("what", "is_offered"),
    [
        ("return {'y': x * fixed(names)[0]}", True),
        ("return {'y': torch.stack([x * n for n in fixed(names)]).to(torch.float32)}", True),
        ("return {'y': helper(x), 'n': Config()}", True),
        ("return {'y': x * SCALE}", False),
        ("return {'y': x * TABLE['a']}", False),
        ("return {'y': x * Config.scale}", False),
        ("return {'y': x * COUNT}", False),
        ("return {'y': x * counted()}", False),
        ("return {'y': LAYER(x)}", False),
        ("return {'y': x * len(os.environ)}", False),
        ("return {'y': x * len(os.listdir())}", False),
        ("return {'y': x * len(open(names[0]).read())}", False),
        ("return {'y': x * UNKNOWN}", False),
    ],
)
def test_what_reads_nothing_that_may_change_is_traced_without_its_python(what: str, is_offered: bool) -> None:
    text = TRACED.replace("WHAT", what)
    result = ValueSeen("other", text="dict")
    names = ValueSeen("other", text="tuple")
    seen = CallsSeen(1, (CallSeen((tensor(3), names), result),), is_python=True)
    found, refused = offered(text, seen, 'opaque(x, ("a", "b"))')
    assert refused == "`opaque` gets `tuple` as `names`, which a custom operator cannot take"
    assert [fix.rule for fix in found] == ["nonstrict-trace"] * is_offered
    if is_offered:
        new = edited(SourceFile(FILE, text), found[0].edits)
        assert "\nopaque_traced = torch._dynamo.nonstrict_trace(opaque)\n" in new
        assert 'return opaque_traced(x, ("a", "b"))["y"] + 1' in new


def test_what_draws_random_numbers_is_not_traced() -> None:
    text = TRACED.replace("WHAT", "return {'y': helper(x)}")
    names, result = ValueSeen("other", text="tuple"), ValueSeen("other", text="dict")
    seen = CallsSeen(1, (CallSeen((tensor(3), names), result, draws=True),), is_python=True)
    assert offered(text, seen, 'opaque(x, ("a", "b"))')[0] == []
