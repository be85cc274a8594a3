"""The command ``fullgraph.addToBaseline``: accepts a finding and hides it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..client.arguments import named_target, refusal
from ..compare.baseline import Baseline, BaselineError, read_baseline, without_known, write_baseline
from ..compare.fingerprint import fingerprinted
from ..features.context import ServerContext
from ..features.explanation import asked_finding
from ..protocol.names import ADD_TO_BASELINE
from ..report.model import Finding, Report
from ..workspace.config import baseline_path, read_config
from ..workspace.targets import Target


def register(context: ServerContext) -> None:
    """Register the command ``fullgraph.addToBaseline``."""

    @context.server.command(ADD_TO_BASELINE)
    async def add_to_baseline(*args: Any) -> None:
        report, finding = asked_finding(ADD_TO_BASELINE, args[0] if len(args) == 1 else "", context.runs)
        root = context.targets.workspace_of(named_target(context.targets, report.target)).root
        path = baseline_path(read_config(root))
        if path is None:
            raise refusal("There is no baseline: name a file in [tool.fullgraph] of pyproject.toml first.")
        try:
            # Read the file again: another process may have written it since the run.
            before = read_baseline(path) if path.exists() else Baseline()
            baseline = _with(before, report, finding, root)
            write_baseline(path, baseline)
        except BaselineError as error:
            raise refusal(str(error)) from error
        found = ((name, context.targets.find(name)) for name in context.runs.names())
        same = {
            name
            for name, item in found
            if isinstance(item, Target) and context.targets.workspace_of(item).root == root
        }
        context.runs.revise(same, lambda each: without_known(each, baseline, root))


def _with(baseline: Baseline, report: Report, finding: Finding, root: Path) -> Baseline:
    own = next(item for item in fingerprinted(report, root) if item.finding == finding)
    return baseline.accepting(own.fingerprint)
