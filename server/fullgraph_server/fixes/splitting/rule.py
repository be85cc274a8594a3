"""The rule that moves what breaks a graph out of the compiled function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...report.model import Finding
from ...workspace.syntax import covers, first_row, last_row
from ..model import Edit, Fix, RuleContext
from ..rules.syntax import Function, ParsedFile, code_of
from .partition import FunctionParts, body_of, parted
from .sites import CompileSite, site_of
from .source import split_edit
from .watching import part_name

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
    are moved with it, if possible.
    """
    for filename, row in _places(finding):
        code = code_of(context.files.get(filename))
        function = _function_at(code, row) if code is not None else None
        site = site_of(code, function) if code is not None and function is not None else None
        if code is None or function is None or site is None:
            continue
        breaks = [item for item in context.report.findings if item.kind == "graph-break"]
        every = [item for other in (finding, *breaks) for item in _statements(function, other, filename)]
        for wanted in dict.fromkeys((frozenset(every), frozenset(every[:1]))):
            in_order = [item for item in body_of(function) if item in wanted]
            parts = (
                parted(code, function, in_order, _computing(function, filename, context))
                if in_order
                else None
            )
            edit = split_edit(code, parts, site) if parts is not None else None
            if parts is not None and edit is not None:
                yield _fix(parts, site, edit)
                return
        return


def _fix(parts: FunctionParts, site: CompileSite, edit: Edit) -> Fix:
    name = parts.function.name
    sentences = [_SPLIT.change.format(function=name, part=part_name(name)), *filter(None, [site.reason])]
    if parts.crossed:
        rows = sorted({first_row(item) for item in parts.crossed})
        lines = f"line {rows[0]}" if len(rows) == 1 else f"lines {rows[0]} to {rows[-1]}"
        sentences.append(
            f"These no longer run in turn with {lines}, which matters if an error is raised there."
        )
    is_safe = len(sentences) == 1
    return Fix(
        _SPLIT.rule,
        _SPLIT.title.format(function=name),
        " ".join(sentences),
        "safe" if is_safe else "unsafe",
        _SPLIT.source,
        (edit, *site.edits),
        replaces=False,
    )


def _places(finding: Finding) -> Iterator[tuple[str, int]]:
    """Yield the calls that lead to a finding, the outermost first, then the finding's own place."""
    yield from ((call.filename, call.row) for call in finding.stack)
    yield finding.span.filename, finding.span.row


def _function_at(code: ParsedFile, row: int) -> Function | None:
    """Return the innermost function with a row in its body."""
    around = [item for item in code.functions() if item.lineno <= row <= last_row(item)]
    return max(around, key=lambda item: item.lineno, default=None)


def _statements(function: Function, finding: Finding, filename: str) -> Iterator[ast.stmt]:
    """Yield the statement of a function in which a finding is, or that leads to it."""
    rows = [row for name, row in _places(finding) if name == filename]
    yield from (item for item in body_of(function) if any(covers(item, row) for row in rows))


def _computing(function: Function, filename: str, context: RuleContext) -> list[ast.stmt]:
    """Return the statements of a function that are in graphs."""
    spans = [
        span
        for lines in context.report.graph_lines
        if lines.graphs
        for span in lines.spans
        if span.filename == filename
    ]
    return [
        item
        for item in body_of(function)
        if any(first_row(item) <= span.row <= last_row(item) for span in spans)
    ]
