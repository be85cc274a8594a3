"""Commands that run, stop and clear targets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import attrs
from fullgraph_compiler.facts import Depth
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.arguments import refusal, run_arguments, target_argument
from ..client.messages import show_message
from ..client.targets import Targets
from ..features.profile import profile_uri
from ..protocol import (
    ASSEMBLY,
    CLEAR,
    COMPILE_TIMES,
    FROZEN,
    KERNELS,
    RECIPES,
    RECOMPILES,
    RUN,
    RUN_ON_SAVE,
    STAGES,
    STOP,
    RunSummary,
)
from ..report import faults
from ..report.model import Report
from ..report.recipes import what_helps
from ..report.recompiles import late_compilation_verdict
from ..runs.minification import Minifications
from ..runs.schedule import Runs
from ..runs.suitability import unsuited

_WITHOUT_RESULT = ("cancelled", "not-started")
"""Statuses of a run after which there is no verdict."""

_COMMANDS: Final[Sequence[tuple[str, Depth, Callable[[Report], str] | None]]] = (
    (ASSEMBLY, "build", None),
    (COMPILE_TIMES, "times", None),
    (STAGES, "stages", faults.verdict),
    (FROZEN, "late-compile", late_compilation_verdict),
    (RECIPES, "recipes", what_helps),
)
"""Commands that take a target alone: the depth of the run, and the function that makes its message."""


def summary(target: str, report: Report | None) -> RunSummary:
    """Make the answer of a command that has run a target; without a report it was cancelled."""
    if report is None or report.status is None:
        return RunSummary(target, "cancelled", 0)
    return RunSummary(
        target, report.status, len(report.findings), bool(report.frames), len(report.ignored) or None
    )


def register(server: LanguageServer, runs: Runs, targets: Targets, minifications: Minifications) -> None:
    """Serve the commands."""
    for command, depth, verdict in _COMMANDS:
        server.command(command)(_command(server, runs, targets, command, depth, verdict))

    @server.command(RUN)
    async def run(*args: Any) -> RunSummary:
        target, switches = run_arguments(targets, RUN, args)
        return summary(target.id, await runs.start(target.id, "graph" if switches else None, switches))

    @server.command(KERNELS)
    async def kernels(*args: Any) -> RunSummary:
        target, switches = run_arguments(targets, KERNELS, args)
        return summary(target.id, await runs.start(target.id, "kernels", switches))

    @server.command(RECOMPILES)
    async def recompiles(*args: Any) -> RunSummary:
        name = _suited_target(targets, RECOMPILES, args, "recompiles")
        report = await runs.start(name, "recompiles")
        answer = summary(name, report)
        # A run that several commands share goes as deep as one of them asks.
        if report is None or report.depth != "recompiles" or not _has_result(report):
            return answer
        return attrs.evolve(answer, document=profile_uri(report))

    @server.command(STOP)
    async def stop(*args: Any) -> None:
        name = target_argument(targets, STOP, args).id if args else None
        runs.stop(name)
        minifications.stop(name)

    @server.command(CLEAR)
    async def clear(*args: Any) -> None:
        runs.clear(target_argument(targets, CLEAR, args).id if args else None)

    @server.command(RUN_ON_SAVE)
    async def run_on_save(*args: Any) -> None:
        if len(args) != 2 or not isinstance(args[1], bool):
            raise refusal(f"{RUN_ON_SAVE} takes two arguments: a target, and true or false.")
        target = target_argument(targets, RUN_ON_SAVE, args[:1])
        runs.set_run_on_save(target.id, target.filename, args[1])


def _command(
    server: LanguageServer,
    runs: Runs,
    targets: Targets,
    command: str,
    depth: Depth,
    verdict: Callable[[Report], str] | None,
) -> Callable[..., Awaitable[RunSummary]]:
    """Make a command that runs a target at a depth, and shows a verdict on its report."""

    async def run(*args: Any) -> RunSummary:
        name = _suited_target(targets, command, args, depth)
        report = await runs.start(name, depth)
        if verdict is not None and report is not None and _has_result(report):
            fails = any(finding.severity == "error" for finding in report.findings)
            kind = types.MessageType.Warning if fails else types.MessageType.Info
            show_message(server, kind, verdict(report))
        return summary(name, report)

    return run


def _suited_target(targets: Targets, command: str, args: tuple[Any, ...], depth: Depth) -> str:
    """Return the id of the target that a command names, if it can run at this depth."""
    target = target_argument(targets, command, args)
    if problem := unsuited(target, depth):
        raise refusal(problem)
    return target.id


def _has_result(report: Report) -> bool:
    return report.status is not None and report.status not in _WITHOUT_RESULT
