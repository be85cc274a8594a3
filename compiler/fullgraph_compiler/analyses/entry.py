"""Entries of analyses: how a worker runs an analysis."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..capture.depths import DEPTHS
from ..facts import Depth, MinifyRequest, RunRequest
from ..observe.live import Sink


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEntry:
    """The entry point of an analysis in a worker.

    ``run`` gets the request, a sink for facts, and a function to call first in a forked child, so that the
    sink works there. The last fact that ``run`` reports is ``RunFinished``.
    """

    run: Callable[[Any, Sink, Callable[[], None]], None]
    forks: bool = True
    """Whether the analysis forks the process, which is reliable only on Linux."""
    without_data: frozenset[Depth] = frozenset()
    """The depths at which a dry run is possible, because no compiled code runs there."""

    def unsuited(self, request: RunRequest | MinifyRequest) -> str:
        """Return one sentence on why a request cannot run here; empty if it can."""
        if self.forks and sys.platform != "linux":
            return "This analysis needs Linux, because it forks the process."
        if not isinstance(request, RunRequest) or not request.switches.without_data:
            return ""
        if request.depth not in self.without_data:
            return "A dry run has no data, and this depth runs compiled code: leave out dry-run and device."
        if request.variables:
            return "A dry run has no data that ranks could exchange: leave out dry-run and device, or ranks."
        return ""


def entry_of(request: RunRequest | MinifyRequest) -> WorkerEntry:
    """Return the entry that serves a request.

    Raises ``LookupError`` for an unknown analysis.
    """
    name = request.depth.replace("-", "_") if isinstance(request, RunRequest) else "minify"
    if isinstance(request, RunRequest) and request.depth in DEPTHS:
        name = "program"
    module = f"{__package__}.{name}"
    if not name.isidentifier() or find_spec(module) is None:
        raise LookupError(f"This version of Fullgraph has no analysis {name}: restart the server.")
    entry: WorkerEntry = import_module(module).ENTRY
    return entry
