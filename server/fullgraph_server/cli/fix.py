"""The command that finds and proves fixes of findings, and writes them on request."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click

from ..fixes.model import SAFETY, Fix, RuleContext, Safety
from ..fixes.patches import patched_package, unpatchable
from ..fixes.plans import FixPlan, shortest
from ..fixes.prover import EditProver
from ..fixes.rules.catalogue import candidates
from ..fixes.search import FindingTries, fix_first, try_all
from ..fixes.writing import UnwritableError, write_texts
from ..report.model import Finding
from ..runs.effective_settings import SettingOverrides
from ..text.messages import counted
from ..workspace.targets import Target
from ..workspace.workspace import Workspace
from .formats.fixes import FixFormat, TargetFixes
from .formats.places import cell_of, shown_place
from .output import progress, tell
from .session import NOT_STARTED, CommandSession, workspace_root

_LEFT = 1


@dataclass(frozen=True)
class FixOptions:
    """The options of ``fullgraph fix``."""

    apply: bool = False
    moves_output: bool = False
    unsafe: bool = False
    select: tuple[str, ...] = ()
    package: str = ""
    """The installed package in which to look for fixes; empty for the user's own files."""

    @property
    def safety(self) -> Sequence[Safety]:
        """The safety levels of fixes that the plan may contain."""
        most: Safety = "unsafe" if self.unsafe else "moves-output" if self.moves_output else "safe"
        return SAFETY[: SAFETY.index(most) + 1]

    def selects(self, finding: Finding, fix: Fix) -> bool:
        """Return whether ``select`` is empty or has the fix's rule or the finding's code."""
        return not self.select or fix.rule in self.select or finding.code in self.select


def fix_targets(
    targets: Sequence[Target], overrides: SettingOverrides, write: FixFormat, options: FixOptions
) -> int:
    """Search for fixes of each target, write the results, and return the exit code."""
    with closing(CommandSession(targets, "fix", overrides)) as session:
        command = _FixCommand(session, options)
        for target in targets:
            write(command.run(target, Workspace(workspace_root(target), package=options.package)), sys.stdout)
            if session.signalled:
                break
    return session.signalled or command.exit_code


@dataclass
class _FixCommand:
    session: CommandSession
    options: FixOptions
    exit_code: int = 0

    def run(self, target: Target, workspace: Workspace) -> TargetFixes:
        if name := workspace.package:
            places = self.session.package_places(name, target)
            own = Workspace(workspace_root(target))
            if problem := unpatchable(name, places, own) if places is not None else "":
                raise click.UsageError(problem)
        with tempfile.TemporaryDirectory(prefix="fullgraph-") as folder, progress() as show:
            search = partial(self._search, target, workspace, show)
            fixed = self.session.prove(target, workspace, Path(folder), search)
        if fixed.base.report.status == "not-started":
            self.exit_code = NOT_STARTED
        elif fixed.plan.left or fixed.refusal or (not fixed.tried and fixed.base.report.problem):
            self.exit_code = self.exit_code or _LEFT
        return fixed

    async def _search(
        self, target: Target, workspace: Workspace, show: Callable[[str], None], prover: EditProver
    ) -> TargetFixes:
        if workspace.package:
            prover.wanted = lambda finding: workspace.in_package(finding.span.filename)
        show(f"running {target.label}")
        base = await prover.as_it_is()
        if not (findings := prover.fixable(base.report)):
            return TargetFixes(target, workspace, base, "", (), FixPlan(base, base, (), ()))
        nondeterminism = await prover.nondeterminism(base)
        tried: tuple[FindingTries, ...] = ()
        total = counted(len(findings), "finding")
        prover.show = lambda finding, fix: show(
            f"{shown_place(finding)}: {fix.title} ({len(tried)} of {total} done)"
        )
        async for item in try_all(prover, base, self._candidates, self.options.safety):
            tried = (*tried, item)
        tried = tuple(fix_first(tried))
        show("looking for edits that work together")
        plan = await shortest(prover, base, tried, self._candidates, self.options.safety)
        package = patched_package(plan, workspace)
        fixed = TargetFixes(
            target, workspace, base, nondeterminism, tried, plan, package, self.options.safety
        )
        if not self.options.apply or not plan.texts or self.session.signalled:
            return fixed
        refusal = written(plan.texts)
        return replace(fixed, applied=not refusal, refusal=refusal)

    def _candidates(self, finding: Finding, context: RuleContext) -> list[Fix]:
        return [fix for fix in candidates(finding, context) if self.options.selects(finding, fix)]


def written(texts: Mapping[str, tuple[str, str]]) -> str:
    """Write proven texts into their files; return why nothing was written, or ``""``.

    If an error prevents writing, its message goes to stderr.
    """
    for name in texts:
        cell_of(name, 1)  # caches the notebook: places are printed later, and refer to the text that ran
    try:
        write_texts(texts)
    except UnwritableError as error:
        tell(str(error))
        return "nothing was written"
    return ""
