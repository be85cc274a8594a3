"""Plans of runs: the newest text of the client's files, with its newest settings."""

from __future__ import annotations

from typing import Final

from ..runs.effective_settings import Overrides, resolve
from ..runs.plan import Plan, Planner
from ..workspace.config import read_config
from ..workspace.targets import Target, Trace
from .configuration import Configuration
from .documents import Documents
from .targets import Targets

_DEFAULT_TIMEOUT: Final = 60.0
"""Seconds for a run if nobody has set a limit: a file that is saved must not run for ever."""


def create_planner(targets: Targets, documents: Documents, configuration: Configuration) -> Planner:
    """Create the planner of a client's runs."""

    async def plan(name: str, overrides: Overrides | None = None, /) -> Plan | None:
        target = targets.find(name)
        if not isinstance(target, Target):
            return None
        is_trace = isinstance(target.program, Trace)
        workspace = documents.workspace_of(str(target.cwd) if is_trace else target.filename)
        if overrides is None or overrides.folder != workspace.root:
            overrides = await configuration.overrides(documents.uri(target.filename), workspace.root)
            # The text may have changed while the client gave its settings.
            target = targets.find(name)
            if not isinstance(target, Target):
                return None
        config = read_config(workspace.root)
        for problem in config.problems:
            configuration.tell(problem.message)
        target, run_settings = resolve(target, config, overrides, _DEFAULT_TIMEOUT)
        return Plan(target, run_settings, *documents.as_shown(workspace), overrides.goes_deeper)

    return plan
