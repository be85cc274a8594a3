"""The rule that moves what breaks a graph out of the compiled function."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from ...report.model import Finding
from ...workspace.syntax import (
    COMPOUND,
    called,
    covers,
    dotted,
    first_row,
    nodes_of,
    own_statements,
)
from ..changes import rows_in_graphs
from ..model import Edit, Fix, RuleContext
from ..rules.printing import printed, prints_only
from ..rules.syntax import Function, ParsedFile, code_of
from .dependencies import draws, is_unknown, may_change, operations, reads, writes
from .drawing import with_draws_first
from .partition import FunctionParts, divisions
from .sites import CompileSite, compiled_function, function_at, places_of
from .source import split_edit
from .watching import part_name, part_of

_MOST_WAYS = 2
"""The most ways to split a function that are tried for one set of statements."""
_FIXED = ("shape", "dtype", "device", "ndim")
"""Attributes of tensors that do not change."""
_FOR_NUMBERS = " For each new combination of the numbers that it gets, torch compiles the part again."
_SPLIT = Fix(
    "split-function",
    "Compile only the part of `{function}` that computes",
    "`{function}` calls the new `{part}`, which is compiled, and runs the other statements uncompiled.",
    "safe",
    "https://docs.pytorch.org/docs/stable/compile/programming_model.where_to_apply_compile.html",
    replaces=False,
)


def split(finding: Finding, context: RuleContext) -> Iterator[Fix]:
    """Offer to compile only the part of a function that computes.

    The statement with the finding then runs before or after this part. All other graph breaks of the function
    are moved with it, if possible, and so are counters and lists for whose new values torch compiles again.
    """
    found = compiled_function(finding, context)
    if found is None:
        return
    code, function, site = found
    is_break = finding.kind == "graph-break"
    own = next(
        _statements(function, finding, code.source.filename)
        if is_break
        else _counting(code, function, finding),
        None,
    )
    if own is None:
        return
    if any(part_of(item, code.block(item), ()) is function for item in code.functions()):
        return  # it is already the part of another function
    # A subclass in another file may have a part, too.
    own_text, texts = code.source.text, [item.text for item in context.files.values() if item is not None]
    name = part_name(
        function.name,
        lambda wanted: any(
            wanted in text and not (wanted == site.alias and text == own_text) for text in texts
        ),
    )
    every = list(_breaks(function, code.source.filename, context))
    every += [
        item
        for other in context.report.findings
        if other.kind == "recompile"
        for item in _counting(code, function, other)
    ]
    computing = _computing(function, [own, *every], code.source.filename, context)
    callers = _callers(function, code.source.filename, context)
    inside = [item for item in every if item not in callers]
    first = with_draws_first(code, function)
    new = first.moved(own) if first is not None else None
    if first is not None and new is not None:
        moved = {*filter(None, map(first.moved, every)), *first.draws.values()}
        others = _may_compute(first.function, moved)  # a break in a loop keeps the whole loop out of graphs
        for parts in divisions(first.code, first.function, new, moved, others)[:_MOST_WAYS]:
            if edit := split_edit(first.code, parts, site, name):
                fix = _fix(parts, site, replace(edit, span=first.span), name)
                yield replace(fix, change=fix.change + _FOR_NUMBERS)
    for breaks in dict.fromkeys([(own, *every), (own, *inside), (own,)]):
        for parts in divisions(code, function, own, breaks, computing)[:_MOST_WAYS]:
            if edit := split_edit(code, parts, site, name):
                yield _fix(parts, site, edit, name)


def _fix(parts: FunctionParts, site: CompileSite, edit: Edit, part: str) -> Fix:
    name = parts.function.name
    outside = [item for item in (*parts.head, *parts.tail) if not isinstance(item, ast.Return)]
    change, safety = _SPLIT.change.format(function=name, part=part), _SPLIT.safety
    if parts.crossed and all(map(prints_only, outside)) and not _may_print_otherwise(parts, outside):
        change, safety = f"{change} {_moved_output(parts, outside)}", "moves-output"
    elif parts.crossed:
        change += (
            f" They run in another order relative to {_lines(parts.crossed)}: this matters if one of them "
            "raises an error, draws random numbers, or changes a value that another reads."
        )
        safety = "unsafe"
    if any(map(draws, (*parts.head, *parts.tail))):
        change += " They draw random numbers uncompiled: other numbers than compiled code may draw."
        safety = "unsafe"
    if site.reason:
        change, safety = f"{change} {site.reason}", "unsafe"
    title = _SPLIT.title.format(function=name)
    edits = (edit, *site.edits)
    return Fix(
        _SPLIT.rule,
        title,
        change,
        safety,
        _SPLIT.source,
        edits,
        replaces=False,
        uncompiles=True,
        leaves_little=parts.leaves_little,
        gone=site.alias,
    )


def _may_print_otherwise(parts: FunctionParts, printing: Sequence[ast.stmt]) -> bool:
    """Tell whether a statement that changes places with a print may change what it prints, or whether.

    A call of an unknown function may change any attribute, and what it gets. What the part computes for the
    print does not change.
    """
    computed = {node for values in parts.values.values() for value in values for node in ast.walk(value.node)}
    shown = [node for item in printing for part in printed(item) for node in ast.walk(part)]
    shown = [node for node in shown if node not in computed]
    methods = {call.func for node in shown for call in nodes_of(ast.Call, node)}
    attributes = [
        node
        for node in shown
        if isinstance(node, ast.Attribute) and node not in methods and node.attr not in _FIXED
    ]
    variables = {node.id for node in shown if isinstance(node, ast.Name)} - {*dir(builtins)}
    return any(
        any(may_change(other, node) for node in attributes) or _may_write(other, variables)
        for other in parts.crossed
    )


def _may_write(statement: ast.stmt, variables: set[str]) -> bool:
    """Tell whether a statement may change the objects of some variables."""
    calls = [*nodes_of(ast.Call, statement)]
    is_in_place = any(word.arg == "inplace" for call in calls for word in call.keywords)
    is_passed = any(variables & reads(call) for call in calls if is_unknown(call))
    return bool(variables) and (writes(statement) or is_in_place or is_passed)


def _moved_output(parts: FunctionParts, printing: Sequence[ast.stmt]) -> str:
    rows, crossed = _lines(printing), _lines(parts.crossed)
    verb = "print" if rows.startswith("lines") else "prints"
    if not parts.head:
        return f"Only output moves: {rows} {verb} after {crossed}, or not at all if an error is raised there."
    when = "before or after" if parts.tail else "before"
    return f"Only output moves: {rows} {verb} {when} {crossed}, even if an error is raised there."


def _lines(statements: Iterable[ast.stmt]) -> str:
    rows = sorted({first_row(item) for item in statements})
    return f"line {rows[0]}" if len(rows) == 1 else f"lines {', '.join(map(str, rows))}"


def _statements(function: Function, finding: Finding, filename: str) -> Iterator[ast.stmt]:
    """Yield the innermost statement of a function in which a finding is, or that leads to it."""
    for name, row in places_of(finding):
        around = [item for item in own_statements(function) if name == filename and covers(item, row)]
        yield from around[-1:]


def _counting(code: ParsedFile, function: Function, finding: Finding) -> Iterator[ast.stmt]:
    """Yield the statements of a function that change the variable of a recompilation.

    Examples are ``self.step += 1`` and ``losses.append(x)``.
    """
    node = code.at(finding.span) if finding.span.filename == code.source.filename else None
    name = dotted(node) if node is not None else ""
    for item in own_statements(function) if name else ():
        value = item.value if isinstance(item, ast.Expr) else None
        method = value.func if isinstance(value, ast.Call) else None
        targets = [item.target] if isinstance(item, ast.AugAssign) else []
        changed = [method.value] if isinstance(method, ast.Attribute) else targets
        if any(dotted(one) == name for one in changed):
            yield item


def _alike(function: Function, finding: Finding, statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements that call the function that breaks the graph below a statement."""
    callees = {call.function.rpartition(".")[2] for call in finding.stack}
    names = {called(node) for node in nodes_of(ast.Call, statement)} & callees
    for item in own_statements(function):
        searched: ast.AST | None = None if isinstance(item, COMPOUND) else item
        searched = item.test if isinstance(item, (ast.If, ast.While)) else searched
        if any(called(node) in names for node in nodes_of(ast.Call, searched)):
            yield item


def _breaks(function: Function, filename: str, context: RuleContext) -> Iterator[ast.stmt]:
    """Yield the statements of a function that break a graph.

    A statement that needs the result of a call is left out if the called function computes in graphs, too.
    """
    for finding in context.report.findings:
        for item in _statements(function, finding, filename) if finding.kind == "graph-break" else ():
            if isinstance(item, ast.Expr) or not _called_computes(item, finding, filename, context):
                yield item
                yield from _alike(function, finding, item)
                yield from _calling(function, _called_at(finding, context))


def _callers(function: Function, filename: str, context: RuleContext) -> set[ast.stmt]:
    """Return the statements of a function that only call another function in which a graph breaks."""
    found: set[ast.stmt] = set()
    for finding in context.report.findings:
        span = finding.span
        for item in _statements(function, finding, filename) if finding.kind == "graph-break" else ():
            if span.filename != filename or not covers(item, span.row):
                found.add(item)
    return found


def _called_at(finding: Finding, context: RuleContext) -> str:
    """Return the function of a module whose call breaks a graph, such as ``time.perf_counter``; "" if none.

    If Dynamo skips the whole function, it reports only the first such call.
    """
    code = code_of(context.files.get(finding.span.filename))
    node = code.at(finding.span) if code is not None else None
    call = next(nodes_of(ast.Call, node), None)
    name = dotted(call.func) if call is not None else ""
    is_of_module = code is not None and (name == "print" or name.partition(".")[0] in code.imported_names)
    return name if is_of_module else ""


def _calling(function: Function, name: str) -> Iterator[ast.stmt]:
    """Yield the simple statements of a function that call a function of this name."""
    for item in own_statements(function) if name else ():
        if not isinstance(item, COMPOUND) and any(
            dotted(call.func) == name for call in nodes_of(ast.Call, item)
        ):
            yield item


def _called_computes(item: ast.stmt, finding: Finding, filename: str, context: RuleContext) -> bool:
    """Tell whether a called function in which the graph breaks has other lines in graphs."""
    rows = rows_in_graphs(context.report)
    for name, row in places_of(finding):
        code = code_of(context.files.get(name))
        function = function_at(code, row) if code is not None else None
        if function is None or (name == filename and covers(item, row)):
            continue
        if any(other == name and line != row and covers(function, line) for other, line in rows):
            return True
    return False


def _computing(
    function: Function, breaks: Sequence[ast.stmt], filename: str, context: RuleContext
) -> list[ast.stmt]:
    """Return the simple statements of a function that are in graphs.

    If Dynamo skipped the whole function, return all simple statements that may compute.
    """
    rows = {row for name, row in rows_in_graphs(context.report) if name == filename}
    found = [item for item in _simple(function) if any(covers(item, row) for row in rows)]
    return found or _may_compute(function, breaks)


def _may_compute(function: Function, breaks: Collection[ast.stmt]) -> list[ast.stmt]:
    return [item for item in _simple(function) if item not in breaks and operations(item)]


def _simple(function: Function) -> Iterator[ast.stmt]:
    return (item for item in own_statements(function) if not isinstance(item, (*COMPOUND, ast.Raise)))
