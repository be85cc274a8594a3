"""Findings under construction, and findings that ``# fullgraph: ignore`` hides."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ..kinds import KINDS
from ..text.visible import without_addresses
from ..workspace.definitions import definitions
from ..workspace.ignores import IgnoreComment, ignore_comments
from ..workspace.workspace import Workspace
from .model import Finding, FrameReport

_OF_OTHER_RUNS: Final = [name for name, kind in KINDS.items() if not kind.is_in_every_run]
"""Kinds of findings that only some runs look for: no run shows that a comment to ignore them is unused."""
_FULL_STOP: Final = re.compile(r"(?<!\.)\.$")
"""A full stop at the end of a title, but not of an ellipsis."""


@dataclass(slots=True)
class FindingBuilder:
    """A finding under construction, to which several facts may add."""

    finding: Finding
    compile_ids: set[str] = field(default_factory=set)
    eager: str = ""
    """A clause that says what runs eagerly because of the finding."""
    title: str = ""
    """The message that replaces torch's reason; findings are still merged if their reasons are equal."""
    blame: str = ""
    """A sentence that says what is at fault, if the failing stage of the compiler is not."""


def finished(builder: FindingBuilder) -> Finding:
    """Return the complete finding, whose texts have no memory addresses."""
    compile_ids = frozenset(builder.compile_ids)
    finding = builder.finding
    message = _FULL_STOP.sub("", finding.message)
    message = f"{message}; {builder.eager}" if builder.eager else message
    return replace(
        finding,
        message=without_addresses(message),
        explanation=without_addresses(finding.explanation),
        hints=tuple(map(without_addresses, finding.hints)),
        advice=tuple(replace(item, sentence=without_addresses(item.sentence)) for item in finding.advice),
        text=without_addresses(finding.text),
        count=max(len(compile_ids), 1),
        compile_ids=compile_ids,
    )


def by_place(finding: Finding) -> tuple[str, int, int, str, str]:
    """Return a sort key that orders findings by file and place."""
    span = finding.span
    return (span.filename, span.row, span.column, finding.code, finding.message)


def without_ignored(
    findings: Sequence[Finding], frames: Iterable[FrameReport], workspace: Workspace, *, complete: bool
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings to report, and the findings that a comment hides.

    After a ``complete`` run, a comment in a compiled function that hides nothing becomes a finding. Errors
    and findings about the whole run cannot be hidden.
    """
    compiled = {(frame.filename, frame.row) for frame in frames}
    filenames = {filename for filename, _ in compiled} | {finding.span.filename for finding in findings}
    sources = [source for name in sorted(filenames) if (source := workspace.source(name))]
    comments = [(source, comment) for source in sources for comment in ignore_comments(source)]
    ignored: dict[Finding, None] = {}
    unused: list[Finding] = []
    for source, comment in comments:
        used: set[str] = set()
        for finding in findings:
            if names := _ignored_as(finding, comment):
                ignored[finding] = None
                used |= names
        function = definitions(source).function_at(comment.span.row)
        if complete and function is not None and (source.filename, function.lineno) in compiled:
            unused += _unused(comment, used)
    counting = [finding for finding in findings if finding not in ignored]
    return tuple(sorted([*counting, *unused], key=by_place)), tuple(ignored)


def _ignored_as(finding: Finding, comment: IgnoreComment) -> set[str]:
    """Return the codes in a comment that hide a finding on the comment's line."""
    span = finding.span
    if finding.severity == "error" or finding.of_run or span.filename != comment.span.filename:
        return set()
    if not span.row <= comment.span.row <= span.end_row:
        return set()
    return {finding.code, finding.kind}.intersection(comment.codes)


def _unused(comment: IgnoreComment, used: Collection[str]) -> Iterator[Finding]:
    hint = "Remove it from the comment."
    for code in comment.codes:
        if code not in used and code not in _OF_OTHER_RUNS:
            message = f"`ignore[{code}]` ignored nothing in this run"
            yield _about_comment(comment, message, hint)
    if not comment.codes:
        hint = "Write the code of the finding: `# fullgraph: ignore[GB0059]`."
        yield _about_comment(comment, "this comment names nothing to ignore", hint)


def _about_comment(comment: IgnoreComment, message: str, hint: str) -> Finding:
    return Finding("unused-ignore", "unused-ignore", "information", message, comment.span, hints=(hint,))
