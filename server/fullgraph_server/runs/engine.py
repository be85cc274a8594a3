"""The engine of all runs: requests to workers, within the limits of a plan.

The schedule of an editor, the command line, the tools for agents, and proofs of edits have one engine each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fullgraph_compiler.facts import CallsRequest, CompareRequest, Depth, MinifyRequest, TrialRequest

from ..analyses.analysis import Effort
from ..analyses.registry import of_depth
from ..workers.pool import WorkerPool
from ..workers.settings import RunSettings
from ..workspace.own_folder import kernel_cache
from .program_run import OnOutput, WorkerRequest, WorkerRun

if TYPE_CHECKING:
    from .plan import RunPlan

_DEEPER = 5.0
"""The factor for the time limit of deeper analyses, which run the program and its graphs many times."""


class RunEngine:
    """Maker of runs in the workers of a pool. Close the engine after use."""

    def __init__(self, workers: WorkerPool | None = None) -> None:
        self._workers = workers or WorkerPool()

    def run(
        self,
        plan: RunPlan,
        request: WorkerRequest,
        on_output: OnOutput | None = None,
        libraries: Sequence[str] = (),
    ) -> WorkerRun:
        """Create the run of a request in a worker, with the settings of a plan.

        ``libraries`` are the modules that the target's program imports.
        """
        settings, limited = _with_limits(plan.settings, request, plan.workspace.root)
        return WorkerRun(self._workers, settings, limited, libraries, on_output)

    def expect(self, settings: RunSettings, libraries: Sequence[str]) -> None:
        """Prepare a worker for these settings and a program that imports ``libraries``."""
        self._workers.expect(settings, libraries)

    async def close(self) -> None:
        """End all worker processes."""
        await self._workers.close()


def _with_limits(
    settings: RunSettings, request: WorkerRequest, root: Path
) -> tuple[RunSettings, WorkerRequest]:
    """Return settings and request with the limits that suit the request.

    ``root`` is the folder of the target's workspace.
    """
    if isinstance(request, CompareRequest):
        return settings, request
    request = replace(request, workspace=str(root))
    if isinstance(request, (TrialRequest, CallsRequest)):
        return replace(settings, timeout=settings.patience), request
    request = replace(request, patience=settings.patience)
    if isinstance(request, MinifyRequest):
        # No time limit: the user sees its progress, and stopping it leaves the best repro so far.
        return replace(settings, timeout=None), replace(
            request, cache=kernel_cache(root), discards_files=settings.switches.files == "discard"
        )
    request = replace(request, switches=settings.switches, low_priority=settings.low_priority)
    if _effort(request.depth) == "compiler":
        cache = "" if settings.switches.cold_caches else kernel_cache(root)
        request = replace(request, cache=cache, memory=settings.memory_of_a_try)
    return settings_at(settings, request.depth), request


def settings_at(settings: RunSettings, depth: Depth) -> RunSettings:
    """Return the settings with the time limit that the depth of a run needs."""
    effort = _effort(depth)
    if effort == "program" or settings.timeout is None:
        return settings
    return replace(settings, timeout=settings.patience * (1 if effort == "dynamo" else _DEEPER))


def _effort(depth: Depth) -> Effort:
    analysis = of_depth(depth)
    return analysis.effort if analysis else "compiler"
