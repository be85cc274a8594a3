"""Plans of runs, with the newest texts and settings of the client."""

from __future__ import annotations

from typing import Final

from ..compare.baseline import Baseline, BaselineError, read_baseline
from ..runs.effective_settings import SettingOverrides, resolve
from ..runs.plan import RunPlan, RunPlanner
from ..workspace.config import ProjectConfig, baseline_path, read_config
from ..workspace.targets import Target
from .configuration import SettingsReader
from .documents import ClientDocuments
from .targets import TargetRegistry

_DEFAULT_TIMEOUT: Final = 60.0
"""The time limit in seconds if none is set: a save must not start a run that never ends."""


def create_planner(
    targets: TargetRegistry, documents: ClientDocuments, configuration: SettingsReader
) -> RunPlanner:
    """Create the planner of a client's runs."""

    async def plan(name: str, overrides: SettingOverrides | None = None, /) -> RunPlan | None:
        target = targets.find(name)
        if not isinstance(target, Target):
            return None
        workspace = targets.workspace_of(target)
        if overrides is None or overrides.folder != workspace.root:
            overrides = await configuration.overrides(documents.uri(target.filename), workspace.root)
            # The text may have changed while the server waited for the client's settings.
            target = targets.find(name)
            if not isinstance(target, Target):
                return None
        config = read_config(workspace.root)
        for problem in config.problems:
            configuration.tell(problem.message)
        target, run_settings = resolve(target, config, overrides, _DEFAULT_TIMEOUT)
        shown = documents.as_shown(workspace)
        known, by_itself = baseline(config), (overrides.goes_deeper, overrides.tries_fixes)
        return RunPlan(target, run_settings, *shown, known, *by_itself).of_cells()

    def baseline(config: ProjectConfig) -> Baseline:
        """Return the project's baseline, which is empty if its file cannot be read."""
        path = baseline_path(config)
        if path is None or not path.exists():
            return Baseline()
        try:
            return read_baseline(path)
        except BaselineError as error:
            configuration.tell(str(error))
            return Baseline()

    return plan
