"""Messages about the programs that can run."""

from __future__ import annotations

import attrs
from lsprotocol import types

from ..runs.slot import RunState
from ..workspace.config import TargetKind


@attrs.frozen
class TargetsParams:
    """A request for the targets of the open folders, or of one document."""

    text_document: types.TextDocumentIdentifier | None = None


@attrs.frozen
class TargetItem:
    """A program that can run."""

    id: str
    """The argument for ``fullgraph.run``."""
    label: str
    kind: TargetKind
    uri: str
    folder: str
    """The URI of the folder that it runs for."""
    configured: bool
    """Whether it comes from the configuration rather than from discovery."""
    stale: bool
    """Whether a file that it depends on has changed since it ran."""
    run_on_save: bool
    range: types.Range | None = None
    """The function, class, test or main guard, where the target is not a whole file."""
    selection_range: types.Range | None = None
    """Its name, or the first line of the main guard."""
    state: RunState | None = None
    """The state of its run, or of its last one; absent if it did not run."""


@attrs.frozen
class SuggestedTargetsParams:
    """A request for the targets that analyze a document."""

    text_document: types.TextDocumentIdentifier


@attrs.frozen
class SuggestedTargets:
    """The targets that analyze a document, the likeliest first."""

    targets: list[TargetItem]
    sure: bool
    """Whether nobody needs to be asked: the first one is meant, or the file by its URI if there is none."""


@attrs.frozen
class TargetParams:
    """A request about a target, by its id or a file's URI; a repro is a file, too."""

    target: str
