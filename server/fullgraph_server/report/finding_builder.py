"""Findings while further facts may still add to them, and what comments in the source make of them."""

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
"""Kinds that most runs do not look for: whether a comment for these has a use cannot be told."""
_FULL_STOP: Final = re.compile(r"(?<!\.)\.$")
"""The full stop at the end of a title, which has none; dots there say that something is left out."""


@dataclass(slots=True)
class FindingBuilder:
    """A finding, and what several facts add to it."""

    finding: Finding
    compile_ids: set[str] = field(default_factory=set)
    eager: str = ""
    """What runs eagerly because of it, as a clause."""
    title: str = ""
    """The message in place of torch's reason, by which equal findings are merged."""
    blame: str = ""
    """A sentence on what is at fault, where it is not the stage of the compiler that fails."""


def finished(builder: FindingBuilder) -> Finding:
    """Build the finding."""
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
    """Return the sort key of a finding: by file and place."""
    span = finding.span
    return (span.filename, span.row, span.column, finding.code, finding.message)


def without_ignored(
    findings: Sequence[Finding], frames: Iterable[FrameReport], workspace: Workspace, *, complete: bool
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings that count, and those that comments ignore.

    After a ``complete`` run, a comment in a compiled function that ignored nothing is a finding itself.
    Errors cannot be ignored, nor what concerns a whole run.
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
    """Return the codes of a comment that ignore a finding on its line."""
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
