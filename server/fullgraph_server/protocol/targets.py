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
    """The id of the target, which commands such as ``fullgraph.run`` take."""
    label: str
    kind: TargetKind
    uri: str
    folder: str
    """The URI of the folder in which the target was found."""
    configured: bool
    """Whether pyproject.toml configures the target; otherwise it was discovered."""
    stale: bool
    """Whether a file on which the target depends has changed since its last run."""
    run_on_save: bool
    range: types.Range | None = None
    """The range of the target's function, class, test or main guard; absent for a whole file."""
    selection_range: types.Range | None = None
    """The range of the target's name, or of the first line of the main guard."""
    state: RunState | None = None
    """The state of the current or last run; absent if the target has not run."""


@attrs.frozen
class SuggestedTargetsParams:
    """A request for the targets that can analyze a document."""

    text_document: types.TextDocumentIdentifier


@attrs.frozen
class SuggestedTargets:
    """The targets that can analyze a document, the likeliest first."""

    targets: list[TargetItem]
    sure: bool
    """Whether the user need not choose: run the first target, or without targets the file by its URI."""


@attrs.frozen
class TargetParams:
    """A request about a target, by its id or the URI of a file or repro."""

    target: str
