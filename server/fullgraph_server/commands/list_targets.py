"""The requests for targets: those in a file or in the open folders, and those that a file suggests."""

from __future__ import annotations

from pygls import uris
from pygls.lsp.server import LanguageServer

from ..client.documents import Documents
from ..client.suggestions import suggest
from ..client.targets import ListedTarget, Targets
from ..protocol import (
    SUGGESTED_TARGETS,
    TARGETS,
    SuggestedTargets,
    SuggestedTargetsParams,
    TargetItem,
    TargetsParams,
)
from ..runs.schedule import Runs


def register(server: LanguageServer, targets: Targets, documents: Documents, runs: Runs) -> None:
    """Answer the requests."""

    @server.feature(TARGETS)
    async def list_targets(params: TargetsParams) -> list[TargetItem]:
        if params.text_document is None:
            return [item(listed) for listed in await targets.all(runs.names())]
        filename = documents.filename(params.text_document.uri)
        return [item(targets.place(target)) for target in targets.of_file(filename)] if filename else []

    @server.feature(SUGGESTED_TARGETS)
    async def suggested_targets(params: SuggestedTargetsParams) -> SuggestedTargets:
        filename = documents.filename(params.text_document.uri)
        if filename is None:  # running it gives the reason
            return SuggestedTargets([], sure=True)
        targets.end_with(filename, params.text_document.uri)
        suggestion = await suggest(filename, targets, documents)
        return SuggestedTargets([item(listed) for listed in suggestion.targets], suggestion.sure)

    def item(listed: ListedTarget) -> TargetItem:
        target, state = listed.target, runs.state(listed.target.id)
        return TargetItem(
            id=target.id,
            label=target.label,
            kind=target.kind,
            uri=documents.uri(target.filename),
            folder=uris.from_fs_path(str(listed.root)) or "",
            configured=listed.configured,
            stale=state.stale,
            run_on_save=state.run_on_save,
            range=documents.range(listed.place.whole) if listed.place else None,
            selection_range=documents.range(listed.place.name) if listed.place else None,
            state=state.run,
        )
