"""Fixes with verdicts: as quick fixes, as one action per file, and in hovers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.capabilities import client_command, member
from ..client.documents import ClientDocuments
from ..client.findings import ShownFinding
from ..fixes.changes import FIXABLE
from ..fixes.editing import edited_texts
from ..fixes.model import Fix
from ..fixes.proofs import ProofStore, TargetProof
from ..fixes.search import CandidateVerdict, FindingTries, gain, root_of
from ..fixes.words import unified_diff, verdict_words
from ..protocol.names import SHOW_EXPLANATION, TRY_FIXES
from ..report.model import Finding
from ..runs.schedule import RunSchedule
from ..text.markdown import escaped, fenced
from ..text.messages import counted
from ..workspace.positions import Span
from ..workspace.source import SourceFile
from .explanation import explanation_uri

FIX_ALL = "source.fixAll.fullgraph"
_TRY = "Try fixes"
_SHOW_TRIES = "No edit is verified: show what was tried"
_MOST_TRIES = 4
"""The most edits without a verified one that a hover lists."""
_UNSAFE = "unsafe"
_Texts: TypeAlias = Mapping[str, tuple[str, str]]


class FixActions:
    """Code actions that apply edits verified by a proof."""

    def __init__(
        self, server: LanguageServer, documents: ClientDocuments, runs: RunSchedule, proofs: ProofStore
    ) -> None:
        self._server = server
        self._documents = documents
        self._runs = runs
        self._proofs = proofs

    def actions(self, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """Yield actions for the selected findings, and an action for the whole file."""
        filename = self._documents.filename(params.text_document.uri)
        if filename is None:
            return
        own = [
            diagnostic
            for diagnostic in params.context.diagnostics
            if diagnostic.source == "fullgraph" and member(diagnostic.data, "kind") in FIXABLE
        ]
        if own and _asked_for(params, types.CodeActionKind.QuickFix.value):
            for diagnostic in own:
                yield from self._of(diagnostic, filename)
            yield from self._trying_all(own)
            yield from self._all(filename, types.CodeActionKind.QuickFix, least=2)
        if _asked_for_all(params):
            yield from self._all(filename, FIX_ALL)

    def text(self, shown: ShownFinding) -> str:
        """Describe a finding's best verified edit in Markdown, or why no edit is verified.

        The result is empty if no edit was tried.
        """
        proved, item = self._best(shown)
        if proved is None or item is None:
            return self.outcome(shown.report.target, shown.finding, _MOST_TRIES)
        title = f"**{escaped(_title(item))}**"
        return f"{title}\n\n{_diff(_texts(proved, item.fix))}"

    def outcome(self, target: str, finding: Finding, most: int | None = None) -> str:
        """Say in Markdown which edits of a finding were tried, and why none of them is verified.

        The result is empty if one is verified, if none was tried, or if the text has changed since. With
        ``most``, list only so many edits, and only the first with its diff.
        """
        proved = self._proofs.of(target)
        place = self._documents.range(finding.span)
        tried = self._tried(proved, finding.code, finding.span.filename, place)
        if proved is None or tried is None or tried.waits:
            return ""
        tried = self._leading(proved, tried)
        return "" if tried.best() is not None else "\n\n".join(_tries(proved, tried, most))

    def title(self, shown: ShownFinding) -> str:
        """Return the title of a finding's best verified edit; empty without such an edit."""
        _, item = self._best(shown)
        return _title(item) if item else ""

    def _best(self, shown: ShownFinding) -> tuple[TargetProof | None, CandidateVerdict | None]:
        proved = self._proofs.of(shown.report.target)
        place = self._documents.range(shown.span)
        tried = self._tried(proved, shown.finding.code, shown.span.filename, place)
        best = self._leading(proved, tried).best() if proved and tried else None
        is_there = proved and best and self._is_as_proven(proved, _texts(proved, best.fix))
        return (proved, best) if is_there else (None, None)

    def _of(self, diagnostic: types.Diagnostic, filename: str) -> Iterator[types.CodeAction]:
        target = member(diagnostic.data, "target")
        proved = self._proofs.of(target)
        tried = self._tried(proved, str(diagnostic.code), filename, diagnostic.range)
        if tried is None or proved is None or tried.waits:
            explanation = member(diagnostic.data, "explanation")
            if self._can_try(target, explanation):
                command = types.Command(_TRY, TRY_FIXES, arguments=[target, explanation])
                yield types.CodeAction(
                    _TRY, types.CodeActionKind.QuickFix, diagnostics=[diagnostic], command=command
                )
            return
        tried = self._leading(proved, tried)
        best = tried.best(["safe"])
        for item in tried.tries:
            texts = _texts(proved, item.fix)
            if item.verdict.verified and self._is_as_proven(proved, texts):
                yield types.CodeAction(
                    _title(item),
                    types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    is_preferred=item is best,
                    edit=self._edit(texts, item.fix),
                )
        uri = member(diagnostic.data, "explanation")
        show = client_command(self._server, SHOW_EXPLANATION, _SHOW_TRIES, uri) if uri else None
        if tried.tries and tried.best() is None and show is not None:
            kind = types.CodeActionKind.QuickFix
            yield types.CodeAction(_SHOW_TRIES, kind, diagnostics=[diagnostic], command=show)

    def _trying_all(self, own: Iterable[types.Diagnostic]) -> Iterator[types.CodeAction]:
        """Yield the action that tries fixes for all findings of a target, if it has several."""
        for target in dict.fromkeys(member(item.data, "target") for item in own):
            report, proved = self._runs.report(target), self._proofs.of(target)
            names = {item.span.filename for item in report.findings} if report is not None else ()
            is_done = (
                proved is not None
                and proved.plan is not None
                and not any(item.waits for item in proved.tried)
                and self._is_as_proven(proved, names)
            )
            if report is None or is_done:
                continue
            total = sum(self._proofs.can_try(report, finding) for finding in report.findings)
            if total > 1:
                title = f"Try fixes for all {total} findings"
                command = types.Command(title, TRY_FIXES, arguments=[target])
                yield types.CodeAction(title, types.CodeActionKind.QuickFix, command=command)

    def _all(
        self, filename: str, kind: types.CodeActionKind | str, least: int = 1
    ) -> Iterator[types.CodeAction]:
        """Yield the action that applies all verified edits together.

        There is no such action if the edits fix fewer than ``least`` findings, or do not change this file.
        """
        for proved in self._proofs.all():
            plan = proved.plan
            if plan is None or len(plan.steps) < least or filename not in plan.texts:
                continue
            if self._is_as_proven(proved, plan.texts):
                findings = counted(len(plan.steps), "finding")
                title = f"Apply all verified fixes ({findings})"
                yield types.CodeAction(title, kind, edit=self._edit(plan.texts))
                return

    def _can_try(self, target: str, explanation: str) -> bool:
        """Tell whether there is an edit to try for a finding.

        ``explanation`` is the URI of the finding's explanation.
        """
        report = self._runs.report(target)
        return report is not None and any(
            explanation_uri(target, finding) == explanation and self._proofs.can_try(report, finding)
            for finding in report.findings
        )

    def _tried(
        self, proved: TargetProof | None, code: str, filename: str, place: types.Range
    ) -> FindingTries | None:
        """Return the edits tried for the finding at a place, if the text is unchanged."""
        if proved is None or not self._is_as_proven(proved, [filename]):
            return None
        for tried in proved.tried:
            finding = tried.finding
            if (finding.code, finding.span.filename) != (code, filename):
                continue
            if self._documents.range(finding.span) == place:
                return tried
        return None

    def _leading(self, proved: TargetProof, tried: FindingTries) -> FindingTries:
        """Return the tries of a finding, or of the finding whose fix also removes it."""
        return root_of(tried, proved.tried) or tried

    def _is_as_proven(self, proved: TargetProof, names: Iterable[str]) -> bool:
        for name in names:
            now, then = self._documents.source(name), proved.base.report.files.get(name)
            if now is None or then is None or not now.still_is(then):
                return False
        return True

    def _edit(self, texts: _Texts, fix: Fix | None = None) -> types.WorkspaceEdit:
        """Return the workspace edit that turns the texts that ran into the new texts.

        The user must confirm an unsafe edit, if the client supports confirmation.
        """
        changes = {name: self._changes(name, *ran_and_after) for name, ran_and_after in texts.items()}
        workspace = self._server.client_capabilities.workspace
        can = workspace.workspace_edit if workspace else None
        if can is None or not can.document_changes:
            return types.WorkspaceEdit({self._documents.uri(name): edits for name, edits in changes.items()})
        if fix is None or fix.safety == "safe" or can.change_annotation_support is None:
            return types.WorkspaceEdit(document_changes=self._versioned(changes))
        annotated = {
            name: [types.AnnotatedTextEdit(_UNSAFE, edit.range, edit.new_text) for edit in edits]
            for name, edits in changes.items()
        }
        annotation = types.ChangeAnnotation(fix.title, needs_confirmation=True, description=fix.change)
        return types.WorkspaceEdit(
            document_changes=self._versioned(annotated), change_annotations={_UNSAFE: annotation}
        )

    def _versioned(
        self, changes: Mapping[str, Sequence[types.TextEdit | types.AnnotatedTextEdit]]
    ) -> list[types.TextDocumentEdit]:
        documents = self._documents
        return [
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(documents.uri(name), documents.version(name)),
                edits,
            )
            for name, edits in changes.items()
        ]

    def _changes(self, filename: str, ran: str, after: str) -> list[types.TextEdit]:
        """Return the whole-line edits that turn the text that ran into the new text."""
        now = self._documents.source(filename)
        if now is None:
            return []
        end = "\r\n" if "\r\n" in now.text else "\n"
        old, new = SourceFile(filename, ran).lines, SourceFile(filename, after).lines
        edits = []
        for kind, first, last, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind == "equal":
                continue
            if last < len(old):
                span = Span(filename, first + 1, 1, last + 1, 1)
                text = "".join(line + end for line in new[start:stop])
            elif first > 0:  # the last line has no line end: the end of the line before it changes, too
                span = Span(filename, first, len(old[first - 1]) + 1, len(old), len(old[-1]) + 1)
                text = "".join(end + line for line in new[start:stop])
            else:
                span = Span(filename, 1, 1, len(old), len(old[-1]) + 1)
                text = end.join(new[start:stop])
            edits.append(types.TextEdit(self._documents.range(span), text))
        return edits


def _texts(proved: TargetProof, fix: Fix) -> _Texts:
    return edited_texts(proved.base.report.files, fix.edits)


def _tries(proved: TargetProof, tried: FindingTries, most: int | None) -> Iterator[str]:
    """Yield the paragraphs on the edits that were tried for a finding, and are not verified."""
    shown: dict[tuple[str, str], CandidateVerdict] = {}
    for item in tried.tries:
        shown.setdefault((item.fix.title, item.verdict.reason), item)
    if shown:
        yield f"**No edit is verified.** {counted(len(shown), 'edit was', 'edits were')} tried:"
    if tried.refused:
        yield f"Fullgraph cannot make an operator of it: {escaped(tried.refused)}."
    items = list(shown.values())[:most]
    for item in items if most is None else ():
        yield f"**{escaped(item.fix.title)}**: {escaped(verdict_words(item.verdict, item.fix))}."
        yield _diff(_texts(proved, item.fix))
    if most is not None and items:
        lines = [f"- {escaped(item.fix.title)}: {escaped(item.verdict.reason)}." for item in items]
        lines += [f"- and {len(shown) - len(items)} more"] if len(shown) > len(items) else []
        yield "\n".join(lines)
        yield _diff(_texts(proved, items[0].fix))


def _title(item: CandidateVerdict) -> str:
    if item.fix.safety == "safe":
        return f"Fix: {item.fix.title} ({verdict_words(item.verdict, item.fix)})"
    gained = gain(item.verdict.before, item.verdict.after)
    changes = "moves output" if item.fix.safety == "moves-output" else "changes what the program does"
    return f"Fix: {item.fix.title} ({changes}: {item.fix.change} {gained})"


def _diff(texts: _Texts) -> str:
    """Return a diff with only the changed lines, since a hover has little room.

    The diff contains file names if several files are changed.
    """
    lines = [line for line in unified_diff(texts, "") if line.startswith(("-", "+"))]
    return fenced("diff", "\n".join(lines if len(texts) > 1 else lines[2:]))


def _asked_for(params: types.CodeActionParams, kind: str) -> bool:
    only = params.context.only
    return only is None or any(kind == item or kind.startswith(f"{item}.") for item in _kinds(only))


def _asked_for_all(params: types.CodeActionParams) -> bool:
    """Tell whether the client requests the action for a whole file.

    A request on save must name this kind of action exactly: a user who applies the fixes of all tools on save
    has not asked for edits by Fullgraph.
    """
    only = params.context.only
    if only is None:
        return False
    if params.context.trigger_kind == types.CodeActionTriggerKind.Automatic:
        return FIX_ALL in _kinds(only)
    return _asked_for(params, FIX_ALL)


def _kinds(only: Sequence[types.CodeActionKind | str]) -> list[str]:
    return [item.value if isinstance(item, types.CodeActionKind) else item for item in only]
