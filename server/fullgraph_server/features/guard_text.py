"""Hover texts about guards on names, conditions on sizes, and compilations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from ..client.projection import FileView, NamedGuards, ProjectedFunction, grouped
from ..kinds import KINDS
from ..report.model import FrameCompilation, FrameReport, Guard, Report, SizeCondition
from ..report.origins import is_ambient, origin_of
from ..report.source_locator import library_place
from ..text.markdown import code_span, escaped, fenced, link
from ..text.messages import counted, guard_words
from ..text.size_expressions import written_size
from ..text.source_names import written_name
from ..workspace.positions import Span

_PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_MOST_GUARDS = 8
_MOST_SIZES = 6
_MOST_COMPILATIONS = 8
_MOST_CPP_CALLS = 24


@dataclass(frozen=True, slots=True)
class GuardLinks:
    """Functions that make links in a hover; a link is empty without client support."""

    explanation: Callable[[str], str] = lambda _uri: ""
    line: Callable[[str, int], str] = lambda _filename, _row: ""
    row_words: Callable[[str, int], str] = lambda _filename, row: str(row)


NO_LINKS = GuardLinks()

GuardGroup: TypeAlias = tuple[Report, FrameReport, Sequence[Guard]]
"""Equal guards on one value, with the report and the function to which they belong."""


def guards_at(
    view: FileView,
    around: Sequence[tuple[ProjectedFunction, int]],
    line: str,
    row: int,
    column: int,
    links: GuardLinks,
) -> tuple[str, Span] | None:
    """Describe the guards on the name at a place; return text and range of the name.

    For an attribute without guards, the guards on the value that has the attribute are described.
    """
    at = column - 1
    match = next((match for match in _PATH.finditer(line) if match.start() <= at <= match.end()), None)
    if match is None:
        return None
    end = line.find(".", at, match.end())
    path = line[match.start() : end if end >= 0 else match.end()]
    end_column = match.start() + len(path) + 1
    span = Span(view.filename, row, end_column - len(path.rpartition(".")[2]), row, end_column)
    if (guarded := _guarded(around, path)) is not None:
        return _named(view, *guarded, links), span
    if not around and (used := view.guards_used_at(row, column, path)) is not None:
        return _inlined(view, *used, path, links), span
    return None


def guards_in(
    view: FileView, around: Sequence[tuple[ProjectedFunction, int]], line: str, row: int
) -> list[GuardGroup]:
    """List the guards on values that a line names, in groups of equal guards.

    Groups with the most failures come first.
    """
    found: dict[int, GuardGroup] = {}
    for match in _PATH.finditer(line):
        if (guarded := _guarded(around, match[0])) is not None:
            function, _, guards = guarded
            of_name = [(function.report, function.frame, group) for group in (*guards.own, *guards.parts)]
        elif not around and (used := view.guards_used_at(row, match.end() + 1, match[0])) is not None:
            report, in_line = used
            frames = dict.fromkeys(frame for frame, _ in in_line)
            of_name = [
                (report, frame, group)
                for frame in frames
                for group in grouped(guard for of, guard in in_line if of is frame)
            ]
        else:
            continue
        found |= {id(item[2][0]): item for item in of_name}
    return sorted(found.values(), key=lambda item: -sum(guard.failures for guard in item[2]))


def guard_group_text(view: FileView, report: Report, frame: FrameReport, group: Sequence[Guard]) -> str:
    """Describe a group of equal guards on one value, and the value's origin."""
    origin = _origin(view, report, frame, group[0], NO_LINKS)
    item = _guard_item(view, report, group, NO_LINKS, named=True)
    return f"{origin}\n\n{item}" if origin else item


def function_text(view: FileView, function: ProjectedFunction, links: GuardLinks) -> str:
    """Describe a function: counts, causes of compilations, and guarded state."""
    frame, report = function.frame, function.report
    numbers = [
        counted(frame.graphs, "graph"),
        counted(frame.ops, "op"),
        KINDS["graph-break"].counted(frame.breaks),
        counted(len(frame.guards), "guard"),
        KINDS["recompile"].counted(frame.recompiles),
        *([counted(frame.kernels, "kernel")] if frame.kernels else []),
        f"{frame.seconds:.2f} s compile time",
    ]
    parts = [f"**{code_span(frame.qualname)}**: {' · '.join(numbers)}"]
    own = set(frame.compile_ids)
    history = [item for item in report.compilations if item.compile_id in own]
    if frame.recompiles:
        shown = [compilation_text(view, report, item, links) for item in history[:_MOST_COMPILATIONS]]
        left = len(history) - _MOST_COMPILATIONS
        more = [f"- and {counted(left, 'more compilation')}"] if left > 0 else []
        parts.append("\n".join(["**Compilations**", "", *shown, *more]))
    ambient = dict.fromkeys(_state(guard) for guard in frame.guards if is_ambient(guard))
    if any(ambient):
        parts.append(f"Guarded state: {'; '.join(filter(None, ambient))}")
    return "\n\n".join(parts)


def sizes_text(report: Report, conditions: Sequence[SizeCondition]) -> str:
    """List the conditions on sizes that a line adds."""
    return "\n".join(["**Size conditions that this line adds**", "", *_size_items(conditions, report)])


# -- names -------------------------------------------------------------------------------------


def _named(
    view: FileView, function: ProjectedFunction, name: str, guards: NamedGuards, links: GuardLinks
) -> str:
    """List the guards on a name, on parts of its value, and on its sizes."""
    report, frame = function.report, function.frame
    lines = [f"**{code_span(name)}**: {counted(guards.count, 'guard')} in {code_span(frame.qualname)}", ""]
    if guards.own and (origin := _origin(view, report, frame, guards.own[0][0], links)):
        lines += [origin, ""]
    lines += _guard_items(view, report, guards.own, links, named=False)
    lines += _guard_items(view, report, guards.parts, links, named=True)
    own = set(frame.compile_ids)
    sizes = [item for item in report.sizes if item.compile_id in own and _is_of(item, name)]
    if sizes:
        lines += ["", "**Its sizes**", "", *_size_items(sizes, report, view, links)]
    return "\n".join(lines)


def _inlined(
    view: FileView, report: Report, used: Sequence[tuple[FrameReport, Guard]], path: str, links: GuardLinks
) -> str:
    """List the guards for a name of an inlined function.

    The guards are grouped by the value's name in the compiled function.
    """
    lines = [f"**{code_span(path)}**: {counted(len(used), 'guard')}", ""]
    for (name, frame), group in groupby(used, lambda item: (written_name(item[1].source), item[0])):
        guards = [guard for _, guard in group]
        origin = _origin(view, report, frame, guards[0], links)
        where = f"{code_span(name)} in {code_span(frame.qualname)}"
        lines += [f"{where}, {origin}" if origin else where, ""]
        lines += [*_guard_items(view, report, grouped(guards), links, named=False), ""]
        if len(lines) > 5 * _MOST_GUARDS:
            break
    return "\n".join(lines).rstrip()


def _guarded(
    around: Sequence[tuple[ProjectedFunction, int]], path: str
) -> tuple[ProjectedFunction, str, NamedGuards] | None:
    """Return the guards on a path or its nearest guarded prefix.

    Of the functions ``around``, innermost first, the first function with such guards is used.
    """
    for function, _ in around:
        name = path
        while name:
            if (guards := function.guards_on(name)).count:
                return function, name, guards
            name = name.rpartition(".")[0]
    return None


def _origin(view: FileView, report: Report, frame: FrameReport, guard: Guard, links: GuardLinks) -> str:
    """Describe the kind of a value and its origin: ``attribute, from line 12``."""
    origin = origin_of(guard, frame, report.files)
    if origin is None:
        return ""
    place = _place(view, report, origin.span, links) if origin.span else ""
    return f"{origin.kind}, from {place}" if place else origin.kind


def _guard_items(
    view: FileView, report: Report, groups: Sequence[Sequence[Guard]], links: GuardLinks, *, named: bool
) -> list[str]:
    """List one item for each group of equal guards."""
    lines = dict.fromkeys(_guard_item(view, report, group, links, named) for group in groups[:_MOST_GUARDS])
    left = sum(len(group) for group in groups[_MOST_GUARDS:])
    return [*lines, f"- and {counted(left, 'more guard')}"] if left else [*lines]


def _guard_item(
    view: FileView, report: Report, group: Sequence[Guard], links: GuardLinks, named: bool
) -> str:
    """Describe the condition of equal guards in words, as a list item.

    The targets view shows torch's own check.
    """
    first = group[0]
    subject = f"{code_span(written_name(first.source))}: " if named else ""
    line = f"- {subject}{escaped(guard_words(first.kind, first.expected, first.source))}"
    if failures := sum(guard.failures for guard in group):
        line += f", **failed {counted(failures, 'time')}**"
    if first.span is not None and (place := _place(view, report, first.span, links)):
        called = [_place(view, report, span, links) for span in first.callers]
        line += f" ({', called from '.join([f'first used at {place}', *filter(None, called)])})"
    return line


# -- sizes and compilations --------------------------------------------------------------------


def _is_of(condition: SizeCondition, name: str) -> bool:
    """Tell whether a condition is about a size of the value with this name."""
    sizes = (written_size(symbol.source) for symbol in condition.symbols)
    return any(size == name or size.startswith((f"{name}.", f"{name}[")) for size in sizes)


def _size_items(
    conditions: Iterable[SizeCondition],
    report: Report,
    view: FileView | None = None,
    links: GuardLinks = NO_LINKS,
) -> list[str]:
    """List one item for each condition, the shortest first.

    Longer conditions mostly follow from shorter ones.
    """
    texts: dict[str, list[SizeCondition]] = {}
    for condition in conditions:
        texts.setdefault(condition.text, []).append(condition)
    items = []
    for text in sorted(texts, key=len)[:_MOST_SIZES]:
        same = texts[text]
        number = next((item for item in same if item.reason), None)
        details = [f"became a number ({escaped(number.reason.replace('_', ' '))})"] if number else []
        values = dict.fromkeys(
            f"{symbol.value} in the trace" for symbol in same[0].symbols if symbol.value is not None
        )
        details += list(values)[:1]
        if view is not None and same[0].span and (place := _place(view, report, same[0].span, links)):
            details.append(f"at {place}")
        if same[0].calls:
            details.append(f"added {escaped(library_place(same[0].calls[-1]))}")
        compilations = ", ".join(dict.fromkeys(item.compile_id for item in same))
        details.append(f"compilation {escaped(compilations)}")
        items += [f"- {code_span(text)}\\", f"  {', '.join(details)}"]
        if same[0].cpp_stack:
            items += ["", fenced("text", "\n".join(same[0].cpp_stack.splitlines()[-_MOST_CPP_CALLS:])), ""]
    left = len(texts) - _MOST_SIZES
    return [*items, f"- and {counted(left, 'more condition')}"] if left > 0 else items


def compilation_text(
    view: FileView, report: Report, item: FrameCompilation, links: GuardLinks = NO_LINKS
) -> str:
    """Describe a compilation as a list item: time, caller, and guard that failed."""
    called = _place(view, report, item.caller, links) if item.caller else ""
    caller = f", called from {called}" if called else ""
    reason = f": {escaped(item.reason)}" if item.reason else ""
    return f"- {escaped(item.compile_id)}, {item.seconds:.2f} s{caller}{reason}"


def _state(guard: Guard) -> str:
    if guard.kind == "GLOBAL_STATE":
        return escaped(guard.expected)
    if guard.kind == "DEFAULT_DEVICE" and guard.expected != "None":
        return f"default device {escaped(guard.expected)}"
    return ""


# -- text --------------------------------------------------------------------------------------


def _place(view: FileView, report: Report, span: Span, links: GuardLinks) -> str:
    """Return the current place of a report's line, as a link if possible.

    The text is empty if the line was edited or deleted.
    """
    row = view.row(report, span)
    if row is None:
        return ""
    uri, words = links.line(span.filename, row), f"line {links.row_words(span.filename, row)}"
    line = link(words, uri) if uri else words
    return line if span.filename == view.filename else f"{line} of {escaped(Path(span.filename).name)}"
