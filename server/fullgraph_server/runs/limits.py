"""Limits of requests to a worker: deeper ones may take longer, and keep the kernels that they compile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from fullgraph_compiler.facts import (
    CallsRequest,
    CompareRequest,
    Depth,
    MinifyRequest,
    RunRequest,
    TrialRequest,
)

from ..analyses.analysis import Effort
from ..analyses.registry import of_depth
from ..workers.settings import RunSettings
from ..workspace.own_folder import kernel_cache

_DEEPER = 5.0
"""The time limit of a deeper run, as a multiple of that of one graph: it runs program and graphs often."""

WorkerRequest: TypeAlias = RunRequest | MinifyRequest | CompareRequest | TrialRequest | CallsRequest
"""What a worker can be asked for on behalf of a target."""


def with_limits(
    settings: RunSettings, request: WorkerRequest, root: Path
) -> tuple[RunSettings, WorkerRequest]:
    """Return settings and request with their limits, for a target of the workspace at ``root``."""
    if isinstance(request, CompareRequest):
        return settings, request
    request = replace(request, workspace=str(root))
    if isinstance(request, (TrialRequest, CallsRequest)):
        return replace(settings, timeout=settings.patience), request
    request = replace(request, patience=settings.patience)
    if isinstance(request, MinifyRequest):
        # However long it takes: its progress is seen, and what it has when it is stopped stays.
        return replace(settings, timeout=None), replace(
            request, cache=kernel_cache(root), discards_files=settings.switches.files == "discard"
        )
    request = replace(request, switches=settings.switches, low_priority=settings.low_priority)
    if _effort(request.depth) == "compiler":
        cache = "" if settings.switches.cold_caches else kernel_cache(root)
        request = replace(request, cache=cache, memory=settings.memory_of_a_try)
    return settings_at(settings, request.depth), request


def settings_at(settings: RunSettings, depth: Depth) -> RunSettings:
    """Return the settings of a run with the time that its depth needs."""
    effort = _effort(depth)
    if effort == "program" or settings.timeout is None:
        return settings
    return replace(settings, timeout=settings.patience * (1 if effort == "dynamo" else _DEEPER))


def _effort(depth: Depth) -> Effort:
    analysis = of_depth(depth)
    return analysis.effort if analysis else "compiler"
