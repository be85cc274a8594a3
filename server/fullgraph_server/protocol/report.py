"""Messages about a report, whose shape is in ``commands/report.py``."""

from __future__ import annotations

import attrs

from ..kinds import FindingKind


@attrs.frozen
class ReportParams:
    """A request for the report of a target, or of one of its layers."""

    target: str
    layer: str | None = None
    """The ``layer`` of a ``RunSummary`` or ``LayerItem``; absent for the target's ordinary result."""


@attrs.frozen
class MinifyOptions:
    """The failure to minify; the first failure of the target if no field is set."""

    fault: int = 0
    """The number of the fault; 0 if the stage at fault is unknown."""
    compile_id: str = ""
    """The compile id of the graph that fails; empty if unknown."""


@attrs.frozen
class GuardsParams:
    """A request for the guards of one function of a report."""

    target: str
    generation: int
    frame: int
    """The index of the function in ``ReportItem.frames``."""


@attrs.frozen
class FindingData:
    """The data of a diagnostic, for later requests about the finding."""

    target: str
    generation: int
    kind: FindingKind
    count: int
    rendered: str
    """The full explanation, as plain text."""
    explanation: str
    """The URI of the full explanation."""
    minify: MinifyOptions | None = None
    """The argument for ``fullgraph.minify``, for a failure that can be minified."""
