"""Fixes for printing and logging in compiled code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from ...report.model import Finding
from ...workspace.syntax import COMPREHENSIONS, dotted, last_row, nodes_of
from ..model import Edit, Fix, RuleContext
from .expressions import is_pure
from .offering import INDEX, code_at, in_library, quoted
from .syntax import ParsedFile, is_simple

_CONFIG = "torch/_dynamo/config.py"
_of_printing = partial(Fix, prints_differ=True, replaces=False)
_REORDER = _of_printing(
    "reorder-print",
    "Let torch print after the graph",
    "The output appears after the graph; an object that changes in between may print wrong values.",
    "safe",
    _CONFIG,
)
_IGNORE = _of_printing(
    "ignore-logging",
    "Let torch skip the logging call",
    "Compiled code no longer logs this.",
    source=_CONFIG,
)
_GUARD = _of_printing(
    "print-uncompiled",
    "Print only where the code is not compiled",
    "Compiled code no longer prints or logs this.",
    source="https://docs.pytorch.org/docs/stable/generated/torch.compiler.is_compiling.html",
)
_OPERATOR = _of_printing(
    "print-operator",
    "Print with torch's operator",
    "The graph prints each time it runs; tensors may be formatted differently.",
    source="torch/_higher_order_ops/print.py",
)
_REMOVE = _of_printing(
    "remove-print",
    "Remove the call",
    "The program no longer prints or logs this.",
    source=INDEX,
)
_OUTPUT = ("print", "warnings.warn")
_LEVELS = ("debug", "info", "warning", "warn", "error", "exception", "critical", "log")
"""Logging methods; libraries add variants that log a message only once (``warning_once``)."""
_BUILTIN: Final = re.compile(r"[Bb]uiltin (?:operator )?`_?(print|warnings\.warn)`")
_LOGGER: Final = re.compile(r"method: <\w+ ([\w.]+) \(\w+\)>\.(\w+)")
"""A pattern for the logger and its method in torch's message about a library's code."""


def prints(finding: Finding, context: RuleContext) -> Iterator[Fix]:
    """Offer fixes for a break at ``print``, ``warnings.warn`` or a logging method."""
    if in_library(finding):
        yield from _settings(finding, context)
        return
    code, node = code_at(finding, context)
    call = node.value if isinstance(node, ast.Expr) else node
    if code is None or not isinstance(call, ast.Call):
        return
    name = dotted(call.func)
    is_output, is_logging = name in _OUTPUT, _is_logging(call)
    statement = code.parent(call)
    if is_output and (name == "print" or _is_imported(code, name)):
        text = f"torch._dynamo.config.reorderable_logging_functions.add({name})"
        if text not in code.source.text and _is_in_root(finding, context):
            yield replace(_REORDER, edits=(code.setting(text),))
    if not isinstance(statement, ast.Expr) or not (is_output or is_logging):
        return
    if is_logging and (edit := _ignored(code, call)) is not None:
        yield replace(_IGNORE, edits=(edit,))
    yield replace(_GUARD, edits=(_guarded(code, statement), *code.importing_torch()))
    if name == "print" and (text := _with_operator(code, call)):
        yield replace(_OPERATOR, edits=(code.replaced(call, code.of_torch(text)), *code.importing_torch()))
    yield replace(_REMOVE, edits=(code.removed(statement),))


def is_output(statement: ast.stmt) -> bool:
    """Tell whether a statement only prints, warns or logs."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and (dotted(call.func) in _OUTPUT or _is_logging(call))


def prints_only(statement: ast.stmt) -> bool:
    """Tell whether a statement only prints or logs values that it does not change, perhaps conditionally."""
    if isinstance(statement, ast.If):
        return is_pure(statement.test) and all(map(prints_only, (*statement.body, *statement.orelse)))
    return is_output(statement) and all(map(is_pure, printed(statement)))


def printed(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the arguments of the calls by which a statement prints or logs, and its conditions."""
    if isinstance(statement, ast.If):
        yield statement.test
        for inner in (*statement.body, *statement.orelse):
            yield from printed(inner)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from statement.value.args
        yield from (word.value for word in statement.value.keywords)


def as_numbers(code: ParsedFile, nodes: Iterable[ast.expr], kind: str) -> Iterator[Edit]:
    """Yield edits with which output prints the tensors of some variables as numbers.

    ``kind`` is ``int`` or ``float``. Formatted numbers (``{x:.2f}``) print alike.
    """
    for node in nodes:
        outer = code.parent(node)
        is_plain = isinstance(outer, ast.FormattedValue) and outer.format_spec is None
        is_plain = is_plain and not _is_labelled(code, outer)
        is_hidden = any(isinstance(item, (ast.Lambda, *COMPREHENSIONS)) for item in code.around(node))
        is_printed = isinstance(outer, ast.Call) and dotted(outer.func) == "print" and node in outer.args
        if isinstance(getattr(node, "ctx", None), ast.Load) and (is_plain or is_printed) and not is_hidden:
            yield code.replaced(node, f"{kind}({code.text(node)})")


def later_as_numbers(code: ParsedFile, statement: ast.stmt, name: str, kind: str) -> Iterator[Edit]:
    """Yield edits of the output after a statement that prints a variable of the function as a number.

    There are none if the variable is bound again.
    """
    function = code.function(statement)
    named = [item for item in nodes_of(ast.Name, function) if item.id == name] if function is not None else []
    later = [item for item in named if item.lineno > last_row(statement)]
    if all(isinstance(item.ctx, ast.Load) for item in later):
        yield from as_numbers(code, [item for item in later if code.function(item) is function], kind)


def _is_labelled(code: ParsedFile, value: ast.AST | None) -> bool:
    """Tell whether a formatted value has its source in front of it, as in ``f"{loss=}"``."""
    whole = code.parent(value) if value is not None else None
    parts = whole.values if isinstance(whole, ast.JoinedStr) else []
    index = next((number for number, part in enumerate(parts) if part is value), 0)
    before = parts[index - 1] if index else None
    return isinstance(before, ast.Constant) and str(before.value).rstrip().endswith("=")


def _is_in_root(finding: Finding, context: RuleContext) -> bool:
    """Tell whether a finding is in the compiled function itself.

    Otherwise it is in a function that Dynamo inlines. Torch 2.11 to 2.15 drops text that an inlined function
    prints.
    """
    compiled = {
        (item.span.filename, item.function.rpartition(".")[2])
        for item in context.report.compilations
        if item.compile_id in finding.compile_ids
    }
    place = {(call.filename, call.function.rpartition(".")[2]) for call in finding.stack[-1:]}
    return not (compiled and place) or compiled == place


def _settings(finding: Finding, context: RuleContext) -> Iterator[Fix]:
    """Offer the Dynamo setting for prints or logs of a library.

    The setting is added at the top of the user's file.
    """
    code, _ = code_at(finding, context)
    name, logger = _BUILTIN.search(finding.text), _LOGGER.search(finding.text)
    if code is not None and name is not None:
        module = name[1].rpartition(".")[0]
        edits = _set(code, f"reorderable_logging_functions.add({name[1]})", module)
        yield replace(_REORDER, edits=edits)
    elif code is not None and logger is not None:
        method = f'logging.getLogger("{logger[1]}").{logger[2]}'
        edits = _set(code, f"ignore_logging_functions.add({method})", "logging")
        yield replace(_IGNORE, edits=edits)


def _set(code: ParsedFile, text: str, module: str) -> tuple[Edit, ...]:
    """Insert a statement that changes a setting, and the import that it needs.

    ``module`` is the module to import.
    """
    edit = code.setting(f"torch._dynamo.config.{text}")
    if module and not _is_imported(code, module):
        edit = replace(edit, text=f"import {module}\n{edit.text}")
    return (edit,)


def _is_logging(call: ast.Call) -> bool:
    owner = dotted(call.func).rpartition(".")[0].lower()
    is_level = isinstance(call.func, ast.Attribute) and call.func.attr.removesuffix("_once") in _LEVELS
    return is_level and owner.rpartition(".")[2].strip("_") in ("log", "logger", "logging")


def _is_imported(code: ParsedFile, name: str) -> bool:
    root = name.partition(".")[0]
    imports = [item for item in code.tree.body if isinstance(item, ast.Import)]
    return any((alias.asname or alias.name) == root for item in imports for alias in item.names)


def _ignored(code: ParsedFile, call: ast.Call) -> Edit | None:
    """Add a logging method to the functions that torch skips.

    The added statement follows the assignment of the logger.
    """
    name = dotted(call.func)
    root = name.partition(".")[0]
    text = code.of_torch(f"torch._dynamo.config.ignore_logging_functions.add({name})")
    for statement in code.tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == root for target in targets):
            return code.after(statement, [text]) if code.torch else None
    return code.setting(text) if _is_imported(code, root) else None


def _guarded(code: ParsedFile, statement: ast.Expr) -> Edit:
    compiling = code.of_torch("torch.compiler.is_compiling()")
    if not code.is_alone(statement):
        return code.replaced(statement, f"{compiling} or {code.text(statement)}")
    return code.under(f"if not {compiling}", statement)


def _with_operator(code: ParsedFile, call: ast.Call) -> str:
    """Rewrite ``print`` as torch's print operator; return "" if that is impossible."""
    parts: list[str] = []
    values: list[str] = []
    if call.keywords or not call.args:
        return ""
    for argument in call.args:
        pieces = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
        written = ""
        for piece in pieces:
            if isinstance(piece, ast.Constant) and isinstance(piece.value, str):
                written += piece.value.replace("{", "{{").replace("}", "}}")
            elif isinstance(piece, ast.FormattedValue):
                if piece.format_spec is not None or piece.conversion != -1:
                    return ""
                written += "{}"
                values.append(ast.unparse(piece.value))
            elif isinstance(piece, ast.Starred):
                return ""
            else:
                written += "{}"
                values.append(code.argument(piece))
        parts.append(written)
    if not values:
        return ""
    text = f"torch._higher_order_ops.print({', '.join([quoted(' '.join(parts)), *values])})"
    return text if is_simple(text) or "\n" in text else ""
