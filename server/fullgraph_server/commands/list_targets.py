"""The requests for targets: of a file, of the open folders, or suggested."""

from __future__ import annotations

from pygls import uris

from ..client.suggestions import suggest
from ..client.targets import ListedTarget
from ..features.context import ServerContext
from ..protocol.names import SUGGESTED_TARGETS, TARGETS
from ..protocol.targets import SuggestedTargets, SuggestedTargetsParams, TargetItem, TargetsParams


def register(context: ServerContext) -> None:
    """Register the handlers of ``fullgraph/targets`` and ``suggestedTargets``."""

    @context.server.feature(TARGETS)
    async def list_targets(params: TargetsParams) -> list[TargetItem]:
        if params.text_document is None:
            return [item(listed) for listed in await context.targets.all(context.runs.names())]
        filename = context.documents.filename(params.text_document.uri)
        found = context.targets.of_file(filename) if filename else ()
        return [item(context.targets.place(target)) for target in found]

    @context.server.feature(SUGGESTED_TARGETS)
    async def suggested_targets(params: SuggestedTargetsParams) -> SuggestedTargets:
        filename = context.documents.filename(params.text_document.uri)
        if filename is None:  # a run reports why it is not a target
            return SuggestedTargets([], sure=True)
        context.targets.end_with(filename, params.text_document.uri)
        suggestion = await suggest(filename, context.targets, context.documents)
        return SuggestedTargets([item(listed) for listed in suggestion.targets], suggestion.sure)

    def item(listed: ListedTarget) -> TargetItem:
        target, state = listed.target, context.runs.state(listed.target.id)
        return TargetItem(
            id=target.id,
            label=target.label,
            kind=target.kind,
            uri=context.documents.uri(target.filename),
            folder=uris.from_fs_path(str(listed.root)) or "",
            configured=listed.configured,
            stale=state.stale,
            run_on_save=state.run_on_save,
            range=context.documents.range(listed.place.whole) if listed.place else None,
            selection_range=context.documents.range(listed.place.name) if listed.place else None,
            state=state.run,
        )
