"""Commands that run, stop and clear targets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import attrs
from fullgraph_compiler.facts import Depth
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.arguments import misuse, refusal, run_arguments, target_argument
from ..client.messages import show_message
from ..client.targets import Targets
from ..features.profile import profile_uri
from ..fixes.proofs import Proofs
from ..protocol import (
    ASSEMBLY,
    CLEAR,
    COMPILE_TIMES,
    FROZEN,
    KERNELS,
    RAISE_LIMIT,
    RECIPES,
    RECOMPILES,
    RUN,
    RUN_ON_SAVE,
    SHOW_RESULTS,
    SPEED,
    STAGES,
    STOP,
    RunSummary,
)
from ..report.model import Report
from ..runs.layers import verdict
from ..runs.minification import Minifications
from ..runs.schedule import Runs
from ..runs.suitability import unsuited

_WITHOUT_RESULT = ("cancelled", "not-started")
"""Statuses of a run after which there is no verdict."""

_COMMANDS: Final[Sequence[tuple[str, Depth, bool]]] = (
    (ASSEMBLY, "build", False),
    (COMPILE_TIMES, "times", False),
    (STAGES, "stages", True),
    (FROZEN, "late-compile", True),
    (RECIPES, "recipes", True),
    (SPEED, "speed", True),
)
"""Commands that take a target alone: the depth of the run, and whether its verdict is a message."""
_SWITCHES: Final[Mapping[Depth, Mapping[str, Any]]] = {"speed": {"files": "discard"}}
"""Switches of runs at a depth: what makes calls of the program again must change no file."""


def summary(target: str, report: Report | None) -> RunSummary:
    """Make the answer of a command that has run a target; without a report it was cancelled."""
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


def register(
    server: LanguageServer, runs: Runs, targets: Targets, minifications: Minifications, proofs: Proofs
) -> None:
    """Serve the commands."""
    for command, depth, tells in _COMMANDS:
        server.command(command)(_command(server, runs, targets, command, depth, tells=tells))

    @server.command(RUN)
    async def run(*args: Any) -> RunSummary:
        target, switches = run_arguments(targets, RUN, args)
        return summary(target.id, await runs.start(target.id, "graph" if switches else None, switches))

    @server.command(KERNELS)
    async def kernels(*args: Any) -> RunSummary:
        target, switches = run_arguments(targets, KERNELS, args)
        return summary(target.id, await runs.start(target.id, "kernels", switches))

    @server.command(RAISE_LIMIT)
    async def raise_limit(*args: Any) -> RunSummary:
        target = target_argument(targets, RAISE_LIMIT, args)
        return summary(target.id, await runs.raise_limit(target.id))

    @server.command(RECOMPILES)
    async def recompiles(*args: Any) -> RunSummary:
        name = _suited_target(targets, RECOMPILES, args, "recompiles")
        report = await runs.start(name, "recompiles")
        answer = summary(name, report)
        has_result = report is not None and report.status is not None and report.status not in _WITHOUT_RESULT
        return attrs.evolve(answer, document=profile_uri(report)) if report and has_result else answer

    @server.command(STOP)
    async def stop(*args: Any) -> None:
        name = of_a_run(STOP, args) if args else None
        runs.stop(name)
        minifications.stop(name)
        proofs.stop(name)

    @server.command(CLEAR)
    async def clear(*args: Any) -> None:
        runs.clear(of_a_run(CLEAR, args) if args else None)

    def of_a_run(command: str, args: tuple[Any, ...]) -> str:
        """Return the id of a target, also of one that has run and is gone from the text since."""
        if len(args) == 1 and args[0] in runs.names():
            return str(args[0])
        return target_argument(targets, command, args).id

    @server.command(SHOW_RESULTS)
    async def show_results(*args: Any) -> None:
        runs.choose(target_argument(targets, SHOW_RESULTS, args).id if args else "")

    @server.command(RUN_ON_SAVE)
    async def run_on_save(*args: Any) -> None:
        if len(args) != 2 or not isinstance(args[1], bool):
            raise misuse(f"{RUN_ON_SAVE} takes two arguments: a target, and true or false.")
        target = target_argument(targets, RUN_ON_SAVE, args[:1])
        runs.set_run_on_save(target.id, target.filename, args[1])


def _command(
    server: LanguageServer,
    runs: Runs,
    targets: Targets,
    command: str,
    depth: Depth,
    *,
    tells: bool,
) -> Callable[..., Awaitable[RunSummary]]:
    """Make a command that runs a target at a depth, and ``tells`` the verdict on its report or not."""

    async def run(*args: Any) -> RunSummary:
        name = _suited_target(targets, command, args, depth)
        report = await runs.start(name, depth, _SWITCHES.get(depth))
        told = verdict(report) if tells and report is not None else None
        if told is not None and report is not None:
            fails = any(finding.severity == "error" for finding in report.findings)
            kind = types.MessageType.Warning if fails else types.MessageType.Info
            show_message(server, kind, told)
        return summary(name, report)

    return run


def _suited_target(targets: Targets, command: str, args: tuple[Any, ...], depth: Depth) -> str:
    """Return the id of the target that a command names, if it can run at this depth."""
    target = target_argument(targets, command, args)
    if problem := unsuited(target, depth):
        raise refusal(problem)
    return target.id
