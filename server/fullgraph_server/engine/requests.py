"""What is asked of a worker, with the limits that suit it: deeper requests take longer, and keep kernels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from fullgraph_compiler.facts import Depth, MinifyRequest, RunRequest

from ..workspace.own_folder import kernel_cache
from .settings import RunSettings

_DEEPER = 5.0
"""How much longer than one graph a run may take that goes deeper: it runs program and graphs often."""

Request: TypeAlias = RunRequest | MinifyRequest


def with_limits(settings: RunSettings, request: Request, root: Path) -> tuple[RunSettings, Request]:
    """Settings and request with what follows from each other, for a target of the workspace at ``root``."""
    request = replace(request, patience=settings.patience)
    if isinstance(request, MinifyRequest):
        # However long it takes: its progress is seen, and what it has when it is stopped stays.
        return replace(settings, timeout=None), replace(request, cache=kernel_cache(root))
    if request.depth == "graph":
        return settings, request
    request = replace(request, cache=kernel_cache(root), memory=settings.memory_of_a_try)
    return settings_at(settings, request.depth), request


def settings_at(settings: RunSettings, depth: Depth) -> RunSettings:
    """The settings of a run with the time that its depth needs."""
    if depth == "graph" or settings.timeout is None:
        return settings
    return replace(settings, timeout=settings.patience * _DEEPER)
