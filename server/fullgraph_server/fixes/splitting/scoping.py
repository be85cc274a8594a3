"""Settings of torch for one compiled function, instead of all that is compiled afterwards.

``torch._dynamo.config.patch(...)`` must be around the call of the compiled function: Dynamo reads most
settings when it compiles, and inside the function it would be too late.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ...report.model import Finding
from ..model import Edit, Fix, RuleContext
from ..rules.calls import is_compile
from ..rules.syntax import ParsedFile
from .sites import compiled_function

_CONFIG = "._dynamo.config."
_PROCESS_WIDE = "The setting holds for everything that is compiled afterwards"


def scoped(fix: Fix, finding: Finding, context: RuleContext) -> Fix | None:
    """Return a fix whose setting holds only for the compiled function; ``None`` if that is impossible."""
    found = compiled_function(finding, context)
    settings = [(edit, setting) for edit in fix.edits if (setting := _assigned(edit.text))]
    if found is None or len(settings) != 1 or _runs_later(found[1]):
        return None
    code, function, site = found
    (edit, setting), torch = settings[0], code.torch
    if not torch or edit.span.filename != code.source.filename:
        return None
    patch = f"{torch}{_CONFIG}patch({setting})"
    added = _around(code, function, site.node, patch)
    if added is None:
        return None
    where = f"The setting holds during each call of the compiled `{function.name}`"
    edits = tuple(added if item is edit else item for item in fix.edits)
    return replace(fix, edits=edits, change=fix.change.replace(_PROCESS_WIDE, where), safety="unsafe")


def _assigned(text: str) -> str:
    """Return the setting that a statement assigns, as a keyword argument; "" for any other text."""
    name, is_there, value = text.strip().rpartition("\n")[2].partition(_CONFIG)[2].partition(" = ")
    return f"{name}={value}" if is_there and name.isidentifier() else ""


def _runs_later(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a call of a function only makes a coroutine or a generator."""
    kinds = (ast.Yield, ast.YieldFrom, ast.Await)
    return isinstance(function, ast.AsyncFunctionDef) or any(
        isinstance(node, kinds) for node in ast.walk(function)
    )


def _around(
    code: ParsedFile, function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.expr, patch: str
) -> Edit | None:
    """Put a patch around a compiled function: a decorator, or a call around ``torch.compile(f)``."""
    if node in function.decorator_list:
        span = code.span(node)
        if (
            code.source.line(span.row)[: span.column - 1].strip() != "@"
            or node is not function.decorator_list[0]
        ):
            return None
        return code.ahead(node, f"{patch}\n{code.indentation(function)}@")
    is_method = isinstance(code.parent(function), ast.ClassDef)
    if is_method or not is_compile(node) or not isinstance(node.args[0], ast.Name):
        return None
    return code.replaced(node, f"{patch}({code.text(node)})")
