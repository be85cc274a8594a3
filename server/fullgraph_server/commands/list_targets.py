"""The request ``fullgraph/targets``: the targets in a file or in the open folders."""

from __future__ import annotations

from pygls import uris
from pygls.lsp.server import LanguageServer

from ..client.documents import Documents
from ..client.targets import ListedTarget, Targets
from ..protocol import TARGETS, TargetItem, TargetsParams
from ..runs.schedule import Runs


def register(server: LanguageServer, targets: Targets, documents: Documents, runs: Runs) -> None:
    """Answer the request."""

    @server.feature(TARGETS)
    async def list_targets(params: TargetsParams) -> list[TargetItem]:
        if params.text_document is None:
            return [item(listed) for listed in await targets.all(runs.names())]
        filename = documents.filename(params.text_document.uri)
        return [item(targets.place(target)) for target in targets.of_file(filename)] if filename else []

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
