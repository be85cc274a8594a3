"""The input of the formats of fixes."""

from __future__ import annotations

from dataclasses import dataclass

from ...fixes.experiments import State
from ...fixes.plans import Plan
from ...fixes.search import Tried
from ...workspace.packages import Package
from ...workspace.targets import Target
from ...workspace.workspace import Workspace


@dataclass(frozen=True)
class Fixed:
    """All that was found out about a target: each finding's tries, and the fixes that go together."""

    target: Target
    workspace: Workspace
    base: State
    nondeterminism: str
    """How two runs of the target as it is differ, as a sentence; empty if they do not."""
    tried: tuple[Tried, ...]
    plan: Plan
    package: Package | None = None
    """The installed package that the edits are for; ``None`` if they are for the user's own files."""
    applied: bool = False
    refusal: str = ""
    """Why nothing was written although that was asked for."""
