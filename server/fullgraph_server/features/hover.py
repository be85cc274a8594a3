"""Hover: the guards of a name, the sum of a compiled function, the explanation of a finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..engine.kernels import operators
from ..engine.names import written_name
from ..engine.report import Code, FrameReport, Guard, Launch, Span
from .artifacts import is_artifact
from .documents import Documents
from .explanation import explanation_link, explanation_uri
from .findings import ShownFinding
from .kernels import Kernels
from .markdown import escaped, paragraphs
from .projection import Function, NamedGuards, Projections, View

_PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_MOST_GUARDS = 8
_MOST_KERNELS = 8
_LONGEST_CODE = 300


def register(
    server: LanguageServer, documents: Documents, projections: Projections, kernels: Kernels
) -> None:
    """Answer ``textDocument/hover``."""

    def link(uri: str) -> str:
        return explanation_link(server, uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        filename = documents.filename(params.text_document.uri)
        if is_artifact(params.text_document.uri):
            text = source_text(documents, kernels, params.text_document.uri, params.position.line + 1)
            return types.Hover(types.MarkupContent(_markup_kind(server), text)) if text else None
        if filename is None:
            return None
        row, column = documents.place(filename, params.position)
        line = documents.line(filename, row)
        found = describe(projections.of(filename), line, row, column, link)
        if found is None:
            return None
        text, span = found
        return types.Hover(types.MarkupContent(_markup_kind(server), text), documents.range(span))


def describe(
    view: View,
    line: str,
    row: int,
    column: int,
    link: Callable[[str], str] = lambda _uri: "",
) -> tuple[str, Span] | None:
    """The hover text at a place, and the range that it is about.

    ``link`` makes a link of the URI of a finding's full explanation, where the client can follow it.
    """
    sections: list[tuple[str, Span]] = [
        (
            f"{finding_text(shown)}\n\n{link(explanation_uri(shown.report.target, shown.finding))}".rstrip(),
            shown.span,
        )
        for shown in view.findings_at(row, column)
    ]
    around = view.functions_at(row)
    if around:
        if (named := _named_guards(view, around, line, row, column)) is not None:
            sections.append(named)
        function, earlier = around[0]
        if function.first_row <= earlier <= function.frame.row:
            sections.append((function_text(function.frame), _line_span(view.filename, line, row)))
    if launches := view.launches_at(row):
        sections.append((kernels_text(launches), _line_span(view.filename, line, row)))
    if not sections:
        return None
    return "\n\n---\n\n".join(text for text, _ in sections), sections[0][1]


# -- names -------------------------------------------------------------------------------------


def _named_guards(
    view: View, around: Sequence[tuple[Function, int]], line: str, row: int, column: int
) -> tuple[str, Span] | None:
    """The guards on the name at a place; of an attribute without any, those of what it belongs to."""
    at = column - 1
    match = next((match for match in _PATH.finditer(line) if match.start() <= at <= match.end()), None)
    if match is None:
        return None
    end = line.find(".", at, match.end())
    path = line[match.start() : end if end >= 0 else match.end()]
    end_column = match.start() + len(path) + 1
    span = Span(view.filename, row, end_column - len(path.rpartition(".")[2]), row, end_column)
    for function, _ in around:
        name = path
        while name:
            if (guards := function.guards_on(name)).count:
                return _guards_text(view, function, name, guards), span
            name = name.rpartition(".")[0]
    return None


def _guards_text(view: View, function: Function, name: str, guards: NamedGuards) -> str:
    """The guards on a name; then those on parts of its value."""
    lines = [f"**`{name}`**: {_count(guards.count, 'guard')} in `{function.frame.function}`", ""]
    lines += _guard_items(view, function, guards.own, named=False)
    lines += _guard_items(view, function, guards.parts, named=True)
    return "\n".join(lines)


def _guard_items(view: View, function: Function, groups: Sequence[Sequence[Guard]], named: bool) -> list[str]:
    """One item for each guard, or for those that say the same."""
    lines = [line for group in groups[:_MOST_GUARDS] for line in _guard_item(view, function, group, named)]
    left = sum(len(group) for group in groups[_MOST_GUARDS:])
    return [*lines, f"- and {_count(left, 'more guard')}"] if left else lines


def _guard_item(view: View, function: Function, group: Sequence[Guard], named: bool) -> list[str]:
    first = group[0]
    subject = f"`{written_name(first.source)}` " if named else ""
    times = f" ×{len(group)}" if len(group) > 1 else ""
    expected = f": {escaped(first.expected)}" if first.expected else ""
    line = f"- {subject}`{first.kind}`{times}{expected}"
    details = []
    failures = sum(guard.failures for guard in group)
    if failures:
        details.append(f"**failed {_count(failures, 'time')}**")
    if first.span is not None and (used := view.row(function.report, first.span)) is not None:
        place = f"line {used}"
        if first.span.filename != view.filename:
            place += f" of {escaped(Path(first.span.filename).name)}"
        details.append(f"first used at {place}")
    details.append(f"compilation {first.compile_id}")
    lines = [f"{line}\\", f"  {', '.join(details)}"]
    if len(group) == 1 and first.code:
        lines += ["  ```python", f"  {_shortened(first.code)}", "  ```"]
    return lines


# -- functions and findings --------------------------------------------------------------------


def function_text(frame: FrameReport) -> str:
    """What became of a function: in one line, then the guards that made it compile again."""
    numbers = [
        _count(frame.graphs, "graph"),
        _count(frame.ops, "op"),
        _count(frame.breaks, "graph break"),
        _count(len(frame.guards), "guard"),
        _count(frame.recompiles, "recompile"),
        *([_count(frame.kernels, "kernel")] if frame.kernels else []),
        f"{frame.seconds:.2f} s compile time",
    ]
    text = f"**`{frame.function}`**: {' · '.join(numbers)}"
    failed = [guard for guard in frame.guards if guard.failures]
    if failed:
        names = dict.fromkeys(f"`{written_name(guard.source) or guard.code}`" for guard in failed)
        text += f"\n\nRecompiled because of guards on {', '.join(list(names)[:_MOST_GUARDS])}"
    return text


def source_text(documents: Documents, kernels: Kernels, uri: str, row: int) -> str:
    """What a row of generated code computes, and the user's lines that it is of."""
    lines = []
    for names, location in kernels.sources_at(uri, row):
        filename, now = documents.filename(location.uri) or "", location.range.start.line + 1
        code = documents.line(filename, now).strip()
        what = f"{', '.join(f'`{name}`' for name in names)}, " if names else ""
        lines.append(f"- {what}[{Path(filename).name}:{now}]({location.uri}#L{now}): `{code}`")
    return "\n".join(dict.fromkeys(lines))


def kernels_text(launches: Sequence[tuple[Code, Launch]]) -> str:
    """What computes a line: each launch with its operations, by pass."""
    lines = [
        f"- {code.phase}: `{launch.name}`" + (f" ({done})" if (done := operators([launch])) else "")
        for code, launch in launches
    ]
    lines = list(dict.fromkeys(lines))
    left = len(lines) - _MOST_KERNELS
    more = [f"- and {left:,} more"] if left > 0 else []
    return "\n".join(["**Kernels of this line**", "", *lines[:_MOST_KERNELS], *more])


def finding_text(shown: ShownFinding) -> str:
    """A finding: what it is, why, and what to do about it."""
    finding = shown.finding
    code = f"[{finding.code}]({finding.url})" if finding.url else f"`{finding.code}`"
    times = f", {_count(finding.count, 'time')}" if finding.count > 1 else ""
    parts = [f"**{escaped(shown.message)}** ({code}{times})", paragraphs(finding.explanation)]
    if finding.hints:
        parts.append("\n".join(f"- {escaped(hint)}" for hint in finding.hints))
    return "\n\n".join(part for part in parts if part)


# -- text --------------------------------------------------------------------------------------


def _line_span(filename: str, line: str, row: int) -> Span:
    """A line's text, without its indentation and trailing blanks."""
    start = len(line) - len(line.lstrip()) + 1
    return Span(filename, row, start, row, len(line.rstrip()) + 1)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _shortened(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= _LONGEST_CODE else f"{line[:_LONGEST_CODE]}…"


def _markup_kind(server: LanguageServer) -> types.MarkupKind:
    capabilities = server.client_capabilities.text_document
    formats = capabilities.hover.content_format if capabilities and capabilities.hover else None
    plain = formats is not None and types.MarkupKind.Markdown not in formats
    return types.MarkupKind.PlainText if plain else types.MarkupKind.Markdown
