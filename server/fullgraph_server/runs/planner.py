"""Plans of runs for a client that has files open: the newest text, with the newest settings."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from fullgraph_compiler.facts import SourceText

from ..workspace.config import read_config
from ..workspace.targets import Target, Trace
from ..workspace.workspace import Workspace
from .effective_settings import Overrides, resolve
from .plan import Plan

_DEFAULT_TIMEOUT: Final = 60.0
"""Seconds for a run if nobody has set a limit: a file that is saved must not run for ever."""


class Planner(Protocol):
    """Makes the plans of runs."""

    async def __call__(self, target: str, overrides: Overrides | None = None, /) -> Plan | None:
        """Make the plan of a target's next run; ``None`` if there is no such target any more.

        ``overrides`` are the settings of a folder that a client has just given.
        """


class TargetFinder(Protocol):
    """The targets of a client."""

    def find(self, name: str) -> object:
        """Return the target of a name, or what says that there is none."""


class ShownFiles(Protocol):
    """The files of a client."""

    def uri(self, filename: str) -> str:
        """Return the URI of a file."""

    def workspace_of(self, filename: str) -> Workspace:
        """Return the folder around a file."""

    def as_shown(self, workspace: Workspace) -> tuple[Workspace, tuple[SourceText, ...]]:
        """Return the workspace as the client shows it now, and the texts that are not on disk."""


class ClientSettings(Protocol):
    """The settings of a client."""

    async def overrides(self, uri: str, folder: Path) -> Overrides:
        """Ask for what is set for a file in an open folder."""

    def tell(self, message: str) -> None:
        """Show the user a message."""


def create_planner(targets: TargetFinder, files: ShownFiles, settings: ClientSettings) -> Planner:
    """Create the planner of a client's runs."""

    async def plan(name: str, overrides: Overrides | None = None, /) -> Plan | None:
        target = targets.find(name)
        if not isinstance(target, Target):
            return None
        is_trace = isinstance(target.program, Trace)
        workspace = files.workspace_of(str(target.cwd) if is_trace else target.filename)
        if overrides is None or overrides.folder != workspace.root:
            overrides = await settings.overrides(files.uri(target.filename), workspace.root)
            # The text may have changed while the client gave its settings.
            target = targets.find(name)
            if not isinstance(target, Target):
                return None
        config = read_config(workspace.root)
        for problem in config.problems:
            settings.tell(problem.message)
        target, run_settings = resolve(target, config, overrides, _DEFAULT_TIMEOUT)
        return Plan(target, run_settings, *files.as_shown(workspace))

    return plan
