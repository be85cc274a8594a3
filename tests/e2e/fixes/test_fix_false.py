"""Wrong edits, made from right ones: none is called verified, though most give the program's own results."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import CallSeen, CallsSeen, TensorSeen, ValueSeen
from fullgraph_server.fixes.changes import fixable
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.model import Edit, Fix, OperatorDefinition, RuleContext
from fullgraph_server.fixes.operators.rule import calls_wanted, operators
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile
from proving import Proving
from replacements import CORPUS, Replacement

FEW = ("a returned arm", "what follows hides it")
"""The replacements that run each time."""


class _Mutated(ast.NodeTransformer):
    """Applies a change to the first node that it fits."""

    def __init__(self, change: Callable[[ast.AST], ast.AST | None]) -> None:
        self._change = change
        self.done = False

    def visit(self, node: ast.AST) -> ast.AST:
        changed = None if self.done else self._change(node)
        if changed is None:
            return self.generic_visit(node)
        self.done = True
        return ast.copy_location(changed, node)


def _is_where(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("torch.where", "torch.cond")


def _of_where(words: str) -> Callable[[ast.AST], ast.AST | None]:
    """A change of ``torch.where(c, a, b)``, written with these three."""

    def change(node: ast.AST) -> ast.AST | None:
        if not _is_where(node) or ast.unparse(node).startswith("torch.cond"):
            return None
        condition, first, second = (f"({ast.unparse(item)})" for item in node.args)  # type: ignore[attr-defined]
        text = words.replace("FIRST", first).replace("SECOND", second).replace("CONDITION", condition)
        return ast.parse(text, mode="eval").body

    return change


def _other_comparison(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.Compare) or type(node.ops[0]) not in _OTHERS:
        return None
    return ast.Compare(node.left, [_OTHERS[type(node.ops[0])]()], node.comparators)


def _other_number(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return ast.Constant(node.value + 1)
    return None


_OTHERS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
}
_RIGHT_IN_THE_END = (
    "s = x.sum().detach()",
    "y = torch.where(mask, x, 0).to(torch.float64).any()",
    "y = torch.where(mask, x, 0).detach().any()",
)
"""Of which what the function returns is the same: a number by its type, and an answer by what is asked."""
MUTATIONS: dict[str, Callable[[ast.AST], ast.AST | None]] = {
    "arms swapped": _of_where("torch.where(CONDITION, SECOND, FIRST)"),
    "condition negated": _of_where("torch.where(~CONDITION, FIRST, SECOND)"),
    "first arm wrong": _of_where("torch.where(CONDITION, FIRST + 1, SECOND)"),
    "second arm wrong": _of_where("torch.where(CONDITION, FIRST, SECOND * 1.5 + 1)"),
    "first arm alone": _of_where("FIRST * 1"),
    "second arm alone": _of_where("SECOND * 1"),
    "other type": _of_where("torch.where(CONDITION, FIRST, SECOND).to(torch.float64)"),
    "no gradient": _of_where("torch.where(CONDITION, FIRST, SECOND).detach()"),
    "for the compiler alone": _of_where(
        "torch.where(CONDITION, FIRST, SECOND) if torch.compiler.is_compiling() else SECOND"
    ),
    "other comparison": _other_comparison,
    "other number": _other_number,
}


def wrong_texts(item: Replacement) -> list[str]:
    """The wrong texts of the table, and those that mutations make of the right ones."""
    texts = list(item.wrong)
    for right in item.right:
        for change in MUTATIONS.values():
            mutated = _Mutated(change)
            tree = mutated.visit(ast.parse(right)) if "return" not in right else ast.parse(right)
            if mutated.done:
                texts.append(ast.unparse(ast.fix_missing_locations(tree)))
    return [text for text in dict.fromkeys(texts) if text not in (*item.right, *_RIGHT_IN_THE_END)]


def test_there_are_enough() -> None:
    assert len(CORPUS) >= 20
    assert sum(len(wrong_texts(item)) for item in CORPUS) >= 200


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(item, marks=() if item.name in FEW else pytest.mark.corpus, id=item.name)
        for item in CORPUS
    ],
)
def test_wrong_edits_are_not_verified(
    item: Replacement, proving: Proving, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "program.py"
    indent = " " * (8 if item.before.endswith(":") else 4)
    text = f"import torch\n{item.setup}\n@torch.compile\ndef function({item.arguments}):\n"
    text += textwrap.indent(item.before, "    ") + "\n"
    first = text.count("\n") + 1
    text += textwrap.indent(item.old, indent) + "\n"
    last = text.count("\n")
    text += f"{textwrap.indent(item.after, '    ')}\nfunction({item.call})\n"
    path.write_text(text)
    span = Span(str(path), first, 1, last + 1, 1)

    def finding(state: ExperimentState) -> Finding:
        found = [found for found in fixable(state.report) if found.span.filename == str(path)]
        return found[0] if found else Finding("graph-break", "GB0000", "warning", "none", span)

    def fixes(_: ExperimentState) -> list[Fix]:
        return [
            Fix(new, "", "", "safe", "", (Edit(span, textwrap.indent(new, indent) + "\n"),))
            for new in wrong_texts(item)
        ]

    verdicts = proving.prove(path, finding, fixes)
    verified = [fix.rule for fix, verdict in verdicts if verdict.verified]
    record_property("ratio: wrong edits called verified", (len(verified), len(verdicts)))
    assert verified == []


LEDGER = """\
import torch

LEDGER = []


@torch.compile
def f(x):
    print("a break")
    return x * 2


def main(x):
    f(x)
    LEDGER.append(1)


main(torch.ones(3))
"""


def test_an_edit_after_which_the_program_leaves_something_else_is_not_verified(
    proving: Proving, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(LEDGER)
    row = LEDGER.split("\n").index("    LEDGER.append(1)") + 1
    edits = (
        Edit(Span(str(path), 8, 1, 9, 1), ""),
        Edit(Span(str(path), row, 1, row + 1, 1), "    LEDGER.extend([1, 1])\n"),
    )

    def fixes(_: ExperimentState) -> list[Fix]:
        return [Fix("rule", "", "", "unsafe", "", edits, prints_differ=True, replaces=False)]

    [(_, verdict)] = proving.prove(path, lambda state: fixable(state.report)[0], fixes)
    assert verdict.reason == "at its end, `LEDGER` of program.py: [1]: not there before"


BAKED = {
    "a counter": (
        "COUNT = [0]",
        "    COUNT[0] += 1\n    return {'y': x * COUNT[0]}",
        "    f(x)",
    ),
    "Python's random numbers": (
        "import random",
        "    return {'y': x * random.random()}",
        "    f(x)",
    ),
    "a configuration that changes": (
        "class Config:\n    scale = 2.0",
        "    return {'y': x * Config.scale}",
        "    f(x)\n    Config.scale += 1",
    ),
    "a list that grows": (
        "SEEN = []",
        "    return {'y': x * len(SEEN)}",
        "    f(x)\n    SEEN.append(1)",
    ),
    "a tensor of the module": (
        "SCALE = torch.ones(3)",
        "    return {'y': x * SCALE}",
        "    f(x)\n    SCALE = SCALE * 2",
    ),
    "the mode of a layer": (
        "DROPOUT = torch.nn.Dropout(0.5)",
        "    return {'y': DROPOUT(x)}",
        "    f(x)\n    DROPOUT.eval()",
    ),
    "the time": (
        "import time",
        "    return {'y': x * (time.perf_counter_ns() % 1000)}",
        "    f(x)",
    ),
}
"""Functions that read what is fixed when they are traced without their Python: what they read, and do."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "a counter" else pytest.mark.corpus) for name in BAKED]
)
def test_what_tracing_would_fix_is_not_verified(
    name: str, proving: Proving, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    read, body, end = BAKED[name]
    path = tmp_path / "program.py"
    text = f"import hashlib\nimport torch\n{read}\n\n\ndef opaque(x):\n    hashlib.md5(b'a')\n{body}\n\n\n"
    call = "opaque(x)['y'] + 1"
    text += f"@torch.compile\ndef f(x):\n    return {call}\n\n\n"
    text += f"x = torch.ones(3)\nfor _ in range(3):\n{end}\n"
    path.write_text(text)
    source = SourceFile(str(path), text)

    def finding(state: ExperimentState) -> Finding:
        return fixable(state.report)[0]

    def fixes(state: ExperimentState) -> list[Fix]:
        context = RuleContext(state.report, state.report.files)
        found = finding(state)
        [wanted] = calls_wanted(found, context)[-1:]
        seen = CallsSeen(1, (CallSeen((_TENSOR,), ValueSeen("other", text="dict")),), is_python=True)
        offered = operators(found, replace(context, calls={wanted: seen}))
        assert [fix.rule for fix in offered] == []
        row = text.split("\n").index(f"    return {call}") + 1
        at_call = Span(str(path), row, 12, row, 18)
        at_head = Span(str(path), row - 2, 1, row - 2, 1)
        assert source.line(row)[11:17] == "opaque"
        made = "traced = torch._dynamo.nonstrict_trace(opaque)\n"
        edits = Edit(at_head, made), Edit(at_call, "traced")
        return [Fix("nonstrict-trace", "", "", "unsafe", "", edits, operator=OperatorDefinition("", made))]

    [(_, verdict)] = proving.prove(path, finding, fixes)
    record_property("ratio: wrong edits called verified", (int(verdict.verified), 1))
    assert not verdict.verified, verdict


_TENSOR = ValueSeen("tensor", (TensorSeen("float32", (3,), "cpu", True, False),))
