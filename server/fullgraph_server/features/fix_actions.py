"""Fixes with their verdicts: as quick fixes of findings, as one action for a whole file, and in hovers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.capabilities import member
from ..client.documents import Documents
from ..client.findings import ShownFinding
from ..fixes.editing import edited
from ..fixes.model import Fix
from ..fixes.proofs import Proofs, Proved
from ..fixes.search import Tried, Try, gain
from ..fixes.words import unified_diff, verdict_words
from ..protocol import TRY_FIXES
from ..text.markdown import escaped, fenced
from ..text.messages import counted

FIX_ALL = "source.fixAll.fullgraph"
_TRY = "Try fixes"
_KINDS = ("graph-break", "recompile", "recompile-limit")
_UNSAFE = "unsafe"
_CHANGES = "changes what the program does"


class FixActions:
    """Code actions that make the edits which the proofs have tried."""

    def __init__(self, server: LanguageServer, documents: Documents, proofs: Proofs) -> None:
        self._server = server
        self._documents = documents
        self._proofs = proofs

    def actions(self, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """Yield the actions for the findings in a selection, and the one for all of the file."""
        if _asked_for(params, types.CodeActionKind.QuickFix.value):
            for diagnostic in params.context.diagnostics:
                if diagnostic.source == "fullgraph" and member(diagnostic.data, "kind") in _KINDS:
                    yield from self._of(diagnostic, params)
        if _asked_for(params, FIX_ALL):
            yield from self._all(params)

    def text(self, shown: ShownFinding) -> str:
        """Describe the best verified edit for a finding, in Markdown; empty if there is none."""
        proved = self._proofs.of(shown.report.target)
        tried = self._tried(shown.report.target, shown.finding.code, shown.span.filename, shown.span.row)
        best = tried.best() if tried else None
        if best is None or proved is None:
            return ""
        title = f"**Fix: {escaped(best.fix.title)}** ({escaped(verdict_words(best.verdict, best.fix))})"
        return f"{title}\n\n{_diff(proved, best.fix)}"

    def _of(self, diagnostic: types.Diagnostic, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        target = member(diagnostic.data, "target")
        filename = self._documents.filename(params.text_document.uri)
        if not isinstance(target, str) or filename is None:
            return
        row = diagnostic.range.start.line + 1
        tried = self._tried(target, str(diagnostic.code), filename, row)
        proved = self._proofs.of(target)
        if tried is None or proved is None:
            command = types.Command(_TRY, TRY_FIXES, arguments=[target])
            yield types.CodeAction(
                _TRY, types.CodeActionKind.QuickFix, diagnostics=[diagnostic], command=command
            )
            return
        best = tried.best(["safe"])
        for item in tried.tries:
            edit = self._edit(proved, item)
            if item.verdict.verified and edit is not None:
                yield types.CodeAction(
                    _title(item),
                    types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    is_preferred=item is best,
                    edit=edit,
                )

    def _all(self, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        filename = self._documents.filename(params.text_document.uri)
        for proved in self._proofs.all() if filename else ():
            plan = proved.plan
            if plan is None or filename not in plan.texts or not self._is_as_proven(proved, plan.texts):
                continue
            findings = counted(len(plan.steps), "finding")
            yield types.CodeAction(
                f"Fix all that is verified ({findings})",
                FIX_ALL,
                edit=types.WorkspaceEdit(changes=self._changes(plan.texts)),
            )
            return

    def _tried(self, target: str, code: str, filename: str, row: int) -> Tried | None:
        """Return what was tried for a finding that is shown in a row of a document."""
        proved = self._proofs.of(target)
        if proved is None:
            return None
        drift = self._documents.drift(proved.base.report, filename)
        for tried in proved.tried:
            span = tried.finding.span
            if (tried.finding.code, span.filename) == (code, filename) and drift.span(span).span.row == row:
                return tried
        return None

    def _edit(self, proved: Proved, item: Try) -> types.WorkspaceEdit | None:
        """Return the edit, exactly as it was proven; ``None`` if a text has changed since."""
        texts = _texts(proved, item.fix)
        if not self._is_as_proven(proved, texts):
            return None
        changes = self._changes(texts)
        if item.fix.safety == "safe" or not _can_confirm(self._server):
            return types.WorkspaceEdit(changes=changes)
        return _to_confirm(changes, item.fix)

    def _changes(self, texts: Mapping[str, tuple[str, str]]) -> dict[str, Sequence[types.TextEdit]]:
        return {self._documents.uri(name): _changes(before, after) for name, (before, after) in texts.items()}

    def _is_as_proven(self, proved: Proved, names: Iterable[str]) -> bool:
        for name in names:
            now, then = self._documents.source(name), proved.base.report.files.get(name)
            if now is None or then is None or now.text != then.text:
                return False
        return True


def _texts(proved: Proved, fix: Fix) -> dict[str, tuple[str, str]]:
    texts = {}
    for name in dict.fromkeys(edit.span.filename for edit in fix.edits):
        source = proved.base.report.files.get(name)
        if source is not None:
            own = [edit for edit in fix.edits if edit.span.filename == name]
            texts[name] = (source.text, edited(source, own))
    return texts


def _title(item: Try) -> str:
    if item.fix.safety == "safe":
        return f"Fix: {item.fix.title} ({verdict_words(item.verdict, item.fix)})"
    gained = gain(item.verdict.before, item.verdict.after)
    return f"Fix: {item.fix.title} ({_CHANGES}: {item.fix.change} {gained})"


def _diff(proved: Proved, fix: Fix) -> str:
    lines = list(unified_diff(_texts(proved, fix), ""))
    return fenced("diff", "\n".join(line for line in lines if not line.startswith(("---", "+++"))))


def _changes(before: str, after: str) -> list[types.TextEdit]:
    """Return the edits of whole lines that make a text another one."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    edits = []
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            place = types.Range(types.Position(first, 0), types.Position(last, 0))
            edits.append(types.TextEdit(place, "".join(new[start:end])))
    return edits


def _can_confirm(server: LanguageServer) -> bool:
    workspace = server.client_capabilities.workspace
    edits = workspace.workspace_edit if workspace else None
    return edits is not None and bool(edits.document_changes) and edits.change_annotation_support is not None


def _to_confirm(changes: Mapping[str, Sequence[types.TextEdit]], fix: Fix) -> types.WorkspaceEdit:
    """Return an edit that the user sees as a diff and confirms before it is made."""
    documents = [
        types.TextDocumentEdit(
            types.OptionalVersionedTextDocumentIdentifier(uri),
            [types.AnnotatedTextEdit(_UNSAFE, edit.range, edit.new_text) for edit in edits],
        )
        for uri, edits in changes.items()
    ]
    annotation = types.ChangeAnnotation(fix.title, needs_confirmation=True, description=fix.change)
    return types.WorkspaceEdit(document_changes=documents, change_annotations={_UNSAFE: annotation})


def _asked_for(params: types.CodeActionParams, kind: str) -> bool:
    only = params.context.only
    if only is None:
        return True
    asked = [item.value if isinstance(item, types.CodeActionKind) else item for item in only]
    return any(kind == item or kind.startswith(f"{item}.") for item in asked)
