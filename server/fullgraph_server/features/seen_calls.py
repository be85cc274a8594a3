"""Quick fixes that add example calls: calls of functions seen in a run or trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from lsprotocol import types

from ..client.documents import ClientDocuments
from ..client.findings import newest_first
from ..report.model import Report, SeenCall
from ..traces.seen_calls import CALLED, example_line
from ..workspace.examples import find_examples, named_definitions
from ..workspace.source import SourceFile
from ..workspace.syntax import first_row

_OF_RUN = "Add example calls from the last run"
_OF_TRACE = "Add example calls from the trace"


class SeenCallActions:
    """Code actions that insert calls observed in runs and traces as example calls."""

    def __init__(self, documents: ClientDocuments, reports: Callable[[], Iterable[Report]]) -> None:
        self._documents = documents
        self._reports = reports

    def actions(self, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """Yield an action for the function in whose header the selection begins.

        If findings are selected, the selection may also begin in the body of the function.
        """
        filename = self._documents.filename(params.text_document.uri)
        source = self._documents.source(filename) if filename else None
        if source is None:
            return
        findings = [item for item in params.context.diagnostics if item.source == "fullgraph"]
        names = _definitions_at(source, params.range.start.line + 1, inside=bool(findings))
        seen = next(filter(None, (self.newest(source.filename, name) for name in names)), None)
        examples = (example.qualname for example in find_examples(source).examples)
        if seen is not None and seen[1][0].function not in examples:
            report, calls = seen
            kind = types.CodeActionKind.QuickFix if findings else types.CodeActionKind.Refactor
            edit = self._edit(source, calls)
            title = _OF_TRACE if report.of_trace else _OF_RUN
            yield types.CodeAction(title, kind, diagnostics=findings or None, edit=edit)

    def newest(self, filename: str, qualname: str) -> tuple[Report, list[SeenCall]] | None:
        """Return the newest calls of a definition, with their report.

        For ``forward``, calls of its class are included.
        """
        owner, _, name = qualname.rpartition(".")
        names = (qualname, owner) if name in CALLED else (qualname,)
        for report in newest_first(self._reports()):
            own = [call for call in report.calls if call.filename == filename and call.function in names]
            if own:
                return report, own
        return None

    def _edit(self, source: SourceFile, calls: Sequence[SeenCall]) -> types.WorkspaceEdit:
        """Insert calls above a definition and its decorators, with their indentation."""
        row = first_row(dict(named_definitions(source))[calls[0].function])
        line = source.line(row)
        indentation = line[: len(line) - len(line.lstrip())]
        text = "".join(f"{indentation}{example_line(call)}\n" for call in calls)
        place = types.Position(row - 1, 0)
        edit = types.TextEdit(types.Range(place, place), text)
        return types.WorkspaceEdit(changes={self._documents.uri(source.filename): [edit]})


def _definitions_at(source: SourceFile, row: int, *, inside: bool) -> list[str]:
    """Return the definitions whose header contains a row, innermost first.

    With ``inside``, return the definitions whose header or body contains the row.
    """
    found = []
    for qualname, node in named_definitions(source):
        # The body may begin in the last row of the header.
        header_end = max(node.lineno, node.body[0].lineno - 1)
        if first_row(node) <= row <= ((node.end_lineno or row) if inside else header_end):
            found.append(qualname)
    return found[::-1]
