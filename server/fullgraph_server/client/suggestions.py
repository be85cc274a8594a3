"""Targets that can analyze a file: its own targets, or programs that import it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..workspace.programs import does_something
from ..workspace.targets import PYTEST, Target
from .documents import ClientDocuments
from .importers import importers
from .targets import ListedTarget, NoTargetReason, TargetRegistry


@dataclass(frozen=True)
class TargetSuggestion:
    """Targets for a file, the likeliest first.

    ``sure`` says that the user need not choose.
    """

    targets: Sequence[ListedTarget]
    sure: bool


async def suggest(filename: str, targets: TargetRegistry, documents: ClientDocuments) -> TargetSuggestion:
    """Return the targets that a file means, or else the programs that import the file.

    A file that has top-level code with effects and that no program imports is a script.
    """
    source = documents.source(filename)
    if source is None:
        return TargetSuggestion([], sure=True)  # the run reports why the file cannot be read
    meant = targets.meant(filename)
    if len(meant) == 1:
        return TargetSuggestion([targets.place(meant[0])], sure=True)
    if meant:
        return TargetSuggestion([targets.place(target) for target in meant], sure=False)
    roots = [workspace.root for workspace in documents.workspaces()]
    users = await _users(filename, roots, targets)
    script = targets.find(filename)
    if not users and does_something(source) and isinstance(script, Target):
        return TargetSuggestion([targets.place(script)], sure=True)
    return TargetSuggestion(users, sure=False)


async def _users(filename: str, roots: Sequence[Path], targets: TargetRegistry) -> list[ListedTarget]:
    """List the programs that import a file, the nearest first.

    All tests of a file are listed as one target, and so are all example calls of a file.
    """
    files = await asyncio.to_thread(importers, filename, roots)
    order = {name: number for number, name in enumerate(files)}
    listed = [item for item in await targets.all(()) if item.target.filename in order]
    chosen: dict[str, ListedTarget] = {}
    for item in sorted(listed, key=lambda item: order[item.target.filename]):
        shown = targets.place(_whole(item.target, targets)) if not item.configured else item
        chosen.setdefault(shown.target.id, shown)
    return list(chosen.values())


def _whole(target: Target, targets: TargetRegistry) -> Target:
    """Return the target of all tests or examples of the file that contains ``target``."""
    if target.kind not in ("pytest", "example"):
        return target
    prefix = PYTEST if target.kind == "pytest" else ""
    whole = targets.find(f"{prefix}{target.filename}")
    return target if isinstance(whole, NoTargetReason) else whole
