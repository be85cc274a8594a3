"""Commands that run, stop and clear targets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import attrs
from lsprotocol import types

from ..analyses.analysis import Analysis, EditorAnalysis
from ..analyses.registry import analyses, verdict
from ..analyses.suitability import unsuited
from ..client.arguments import misuse, refusal, run_arguments, target_argument
from ..client.messages import show_message
from ..features.context import ServerContext
from ..features.profile import profile_uri
from ..protocol.names import CLEAR, KERNELS, MINIFY, RAISE_LIMIT, RUN, RUN_ON_SAVE, SHOW_RESULTS, STOP
from ..protocol.runs import RunSummary
from ..report.model import Report

_WITH_ARGUMENTS: Final = (RUN, KERNELS, MINIFY)
"""Commands of analyses that take further arguments after the target."""


def summary(target: str, report: Report | None) -> RunSummary:
    """Make the response to a command that runs a target; no report means cancelled."""
    if report is None or report.status is None:
        return RunSummary(target, "cancelled", 0)
    return RunSummary(
        target,
        report.status,
        len(report.findings),
        bool(report.frames),
        report.hidden or None,
        layer=report.layer or None,
    )


def register(context: ServerContext) -> None:
    """Register the commands that run, stop, clear and show targets."""
    for analysis in analyses().values():
        shown = analysis.in_editor
        if shown is not None and shown.command not in _WITH_ARGUMENTS:
            context.server.command(shown.command)(_command(context, analysis, shown))

    @context.server.command(RUN)
    async def run(*args: Any) -> RunSummary:
        target, switches = run_arguments(context.targets, RUN, args)
        depth = "graph" if switches else None
        return summary(target.id, await context.runs.start(target.id, depth, switches))

    @context.server.command(KERNELS)
    async def kernels(*args: Any) -> RunSummary:
        target, switches = run_arguments(context.targets, KERNELS, args)
        return summary(target.id, await context.runs.start(target.id, "kernels", switches))

    @context.server.command(RAISE_LIMIT)
    async def raise_limit(*args: Any) -> RunSummary:
        target = target_argument(context.targets, RAISE_LIMIT, args)
        return summary(target.id, await context.runs.raise_limit(target.id))

    @context.server.command(STOP)
    async def stop(*args: Any) -> None:
        name = of_a_run(STOP, args) if args else None
        context.runs.stop(name)
        context.minifications.stop(name)
        context.proofs.stop(name)

    @context.server.command(CLEAR)
    async def clear(*args: Any) -> None:
        context.runs.clear(of_a_run(CLEAR, args) if args else None)

    def of_a_run(command: str, args: tuple[Any, ...]) -> str:
        """Return a target's id, also if the target has run but is gone from the text."""
        if len(args) == 1 and args[0] in context.runs.names():
            return str(args[0])
        return target_argument(context.targets, command, args).id

    @context.server.command(SHOW_RESULTS)
    async def show_results(*args: Any) -> None:
        context.runs.choose(target_argument(context.targets, SHOW_RESULTS, args).id if args else "")

    @context.server.command(RUN_ON_SAVE)
    async def run_on_save(*args: Any) -> None:
        if len(args) != 2 or not isinstance(args[1], bool):
            raise misuse(f"{RUN_ON_SAVE} takes two arguments: a target, and true or false.")
        target = target_argument(context.targets, RUN_ON_SAVE, args[:1])
        context.runs.set_run_on_save(target.id, target.filename, args[1])


def _command(
    context: ServerContext, analysis: Analysis, shown: EditorAnalysis
) -> Callable[..., Awaitable[RunSummary]]:
    """Make the command of an analysis; its argument is a target."""

    async def run(*args: Any) -> RunSummary:
        target = target_argument(context.targets, shown.command, args)
        if problem := unsuited(target, analysis.id):
            raise refusal(problem)
        report = await context.runs.start(target.id, analysis.id, analysis.switches)
        answer = summary(target.id, report)
        if report is None:
            return answer
        if shown.announced and (told := verdict(report)) is not None:
            fails = any(finding.severity == "error" for finding in report.findings)
            kind = types.MessageType.Warning if fails else types.MessageType.Info
            show_message(context.server, kind, told)
        has_result = report.status not in (None, "cancelled", "not-started")
        if shown.opens == "profile" and has_result:
            return attrs.evolve(answer, document=profile_uri(report))
        return answer

    return run
