"""Examples of the fixes for a finding's code: programs before and after each fix."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from fullgraph_compiler.facts import CallSeen, CallsSeen, TensorSeen, ValueSeen

from ..kinds import KINDS
from ..report.model import Finding, FrameCompilation, Report
from ..text.remedies import Advice, Remedy
from ..workspace.positions import Span
from ..workspace.ranges import node_span
from ..workspace.source import SourceFile
from ..workspace.syntax import nodes_of
from .editing import edited
from .model import Fix, RuleContext
from .operators.rule import calls_wanted
from .rules.catalogue import candidates
from .samples import BREAKS, OTHER_BREAKS, RECOMPILES

_FILE: Final = "program.py"
_TENSOR: Final = ValueSeen("tensor", (TensorSeen("float32", (4,), "cpu", True, False),))
_SEEN: Final = CallsSeen(1, (CallSeen((_TENSOR,), _TENSOR),), is_python=True)
"""The assumed arguments and results of functions in the sample programs that torch cannot trace."""
_MARKED: Final = re.compile("«([^«»]*)»")
_OF_GUARDS: Final = [name for name, kind in KINDS.items() if kind.is_of_guard]


@dataclass(frozen=True, slots=True)
class FixExample:
    """A fix, with the text of a small program before and after it.

    ``cause`` names the cause of the finding; empty if it is not known.
    """

    fix: Fix
    before: str
    after: str
    cause: str = ""


def examples(code: str) -> Iterator[FixExample]:
    """Yield an example of each fix for a code.

    ``code`` is torch's id of a graph break, or a kind of finding.
    """
    seen: set[str] = set()
    for cause, text, remedies in _samples(code):
        for example in _examples(cause, text, code, remedies):
            if example.fix.rule not in seen:
                yield example
            seen.add(example.fix.rule)


def _samples(code: str) -> Iterator[tuple[str, str, tuple[Remedy, ...]]]:
    """Yield sample programs for a code.

    Each item has the cause of the finding, the text of the program, and the remedies.
    """
    texts = BREAKS.get(code, ())
    if code in _OF_GUARDS:
        yield from ((cause, text, (remedy,)) for cause, text, remedy in RECOMPILES)
    elif texts:
        yield from (("", text, ()) for text in ((texts,) if isinstance(texts, str) else texts))
    elif code == "graph-break" or code.startswith("GB"):
        yield from ((cause, text, ()) for cause, text in OTHER_BREAKS)


def _examples(cause: str, text: str, code: str, remedies: tuple[Remedy, ...]) -> Iterator[FixExample]:
    source = SourceFile(_FILE, _MARKED.sub(r"\1", text))
    finding = Finding(
        "recompile" if remedies else "graph-break",
        code,
        "warning",
        "",
        _marked(text),
        compile_ids=frozenset({"0/0"}),
        advice=(Advice("", remedies),),
    )
    context = RuleContext(Report(_FILE, 1, compilations=tuple(_compilations(source))), {_FILE: source})
    wanted = [span for span in calls_wanted(finding, context) if _is_of_tensor(source, span)]
    context = replace(context, calls=dict.fromkeys(wanted, _SEEN))
    for fix in candidates(finding, context):
        yield FixExample(fix, source.text, edited(source, fix.edits), cause)


def _is_of_tensor(source: SourceFile, call: Span) -> bool:
    """Tell whether a call calls a function of the program that takes one tensor."""
    name = source.line(call.row)[call.column - 1 :].partition("(")[0]
    return f"def {name}(x):\n" in source.text


def _marked(text: str) -> Span:
    """Return the range between ``«`` and ``»`` as positions in the text without them."""
    found = _MARKED.search(text)
    assert found is not None
    row, column = text.count("\n", 0, found.start()) + 1, found.start() - text.rfind("\n", 0, found.start())
    return Span(_FILE, row, column, row, column + len(found[1]))


def _compilations(source: SourceFile) -> Iterator[FrameCompilation]:
    """Yield one compilation for each call of a compiled function in the program."""
    assert source.tree is not None
    functions = {
        item.name: item
        for item in source.tree.body
        if isinstance(item, ast.FunctionDef)
        and any(ast.unparse(decorator) == "torch.compile" for decorator in item.decorator_list)
    }
    calls = [
        node
        for node in nodes_of(ast.Call, source.tree)
        if isinstance(node.func, ast.Name) and node.func.id in functions
    ]
    for number, call in enumerate(calls):
        name = ast.unparse(call.func)
        place = Span(_FILE, functions[name].lineno, 1, functions[name].lineno, 1)
        yield FrameCompilation(f"0/{number}", name, place, 0.0, 0.0, "", node_span(source, call))
