"""Advice on functions that share a code object, and on ``dynamic=False``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Final

from fullgraph_compiler.facts import GuardFailure, RecompileLimit

from ....text.markdown import code_span, filled
from ....text.remedies import Advice
from ....workspace.definitions import definitions
from ....workspace.source import SourceFile
from ....workspace.syntax import nodes_of
from ...source_locator import FactLocator
from ..marks import MarkUses, dotted
from ..words import FindingAnswer, line_of, row_of

_THREAD: Final = re.compile(r"[/\\]threading\.py$")
_ALIASES: Final = {
    "recompile_limit": "cache_size_limit",
    "accumulated_recompile_limit": "accumulated_cache_size_limit",
}
"""Older names of settings: aliases in ``torch/_dynamo/config.py`` (2.7 to 2.15)."""
_ROOT: Final = re.compile(r"L\['(\w+)'\]")
_SHARED: Final = (
    " share the code of `{name}`, and so its compilations and their limit. "
    "`torch.compile(..., isolate_recompiles=True)`, which torch 2.13 has, separates them for each call of "
    "`torch.compile`."
)
_OF_CLASS: Final = f"All modules of one class{_SHARED}"
_OF_MAKER: Final = f"All functions that `{{maker}}` creates{_SHARED}"


def shared_code(failure: GuardFailure, compile_id: str, places: FactLocator) -> tuple[Advice, ...]:
    """Advise on functions or modules that share a code object.

    They also share its compilations and recompile limit. They are functions that one function makes, or
    modules of one class.
    """
    function = places.functions.get(compile_id)
    source = places.workspace.own_source(function.filename) if function else None
    root = _ROOT.match(failure.source)
    if function is None or source is None or root is None:
        return ()
    name = places.name_of(compile_id)
    if failure.changed == "size" and root[1] == "self" and "_parameters[" in failure.source:
        return (Advice(filled(_OF_CLASS, name=name)),)
    scopes = definitions(source)
    rows = {(first, inner): row for (row, inner), (first, _) in source.functions.items()}  # below decorators
    node = scopes.function(rows.get((function.row, function.name), function.row), function.name)
    maker = scopes.maker(node) if node and not scopes.parameter(node, root[1]) else None
    if maker is None or not scopes.parameter(maker, root[1]):
        return ()
    return (Advice(filled(_OF_MAKER, maker=maker.name, name=name)),)


def limit_of_thread(fact: RecompileLimit, sources: Sequence[SourceFile]) -> FindingAnswer:
    """Explain that the limit that the program set does not apply to another thread.

    Return an empty answer for other recompile limits.
    """
    if not any(_THREAD.search(frame.filename) for frame in fact.stack):
        return FindingAnswer()
    filename, names = fact.stack[-1].filename, (fact.setting, _ALIASES.get(fact.setting))
    for source in sources:
        for node in nodes_of(ast.Assign, source.tree):
            if (
                dotted(node.targets[0]).rpartition("config.")[2] in names
                and isinstance(node.value, ast.Constant)
                and node.value.value != fact.limit
            ):
                where = row_of(source, node.lineno, filename)
                setting = code_span(fact.setting)
                return FindingAnswer(
                    "Settings of `torch._dynamo.config` apply only to the thread that sets them: "
                    f"{setting} from {where} does not apply to this thread.",
                    (f"Set {setting} in this thread, too.",),
                )
    return FindingAnswer()


def static_line(compile_id: str, places: FactLocator) -> str:
    """Name a line that compiles a function with ``dynamic=False``.

    Return an empty string unless every use of ``torch.compile`` on the function has ``dynamic=False``.
    """
    function = places.functions.get(compile_id)
    sources = places.sources_around(compile_id)  # not all sources: libraries compile functions, too
    marks = MarkUses(lambda: sources).compiling(places.name_of(compile_id))
    values = [mark.keywords.get("dynamic") for mark in marks]
    if not marks or not all(isinstance(node, ast.Constant) and node.value is False for node in values):
        return ""
    return line_of(marks[0], function.filename if function else "")
