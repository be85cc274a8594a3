"""Runs of a script on several ranks, in the environment that torchrun sets."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace

from fullgraph_compiler.facts import Fact, RunFinished, RunRequest

from ..compare.ranks import RankReport, merged
from ..report.model import Report
from ..workers.settings import RunSettings
from ..workspace.targets import TorchrunJob
from .partial_reports import PartialReports
from .plan import RunJob
from .program_run import WorkerRun
from .rank_failures import has_failed, with_consequences

_GRACE_SECONDS = 3.0
"""Seconds for which the other ranks may still run and send facts after a rank has failed."""

_MASTER = "127.0.0.1"


class TorchrunExecution:
    """The concurrent runs of all ranks, with their reports merged into one."""

    def __init__(self, job: RunJob, program: TorchrunJob) -> None:
        plan = replace(job.plan, settings=_shared(job.plan.settings, program.ranks))
        self._settings = plan.settings
        request = RunRequest(job.generation, program.script, job.depth, plan.texts)
        port = _free_port()
        self._meeting = tempfile.TemporaryDirectory(prefix="fullgraph-ranks-")
        self._job = job
        self._reporting = PartialReports(self._report, job.on_report)
        self._ranks: list[_RankRun] = []
        for rank in range(program.ranks):
            output = _RankOutput(rank, job.on_output)
            variables = variables_of(rank, program.ranks, port)
            own = replace(request, variables=variables, meeting=self._meeting.name)
            run = job.engine.run(plan, own, output.write, job.libraries)
            self._ranks.append(_RankRun(rank, run, output, self._take_note))

    @property
    def facts(self) -> list[Fact]:
        """The facts of all ranks."""
        return [fact for rank in self._ranks for fact in rank.facts]

    def cancel(self) -> None:
        """End all ranks."""
        for rank in self._ranks:
            rank.run.cancel()

    async def execute(self) -> Report:
        """Run all ranks.

        When a rank fails, the other ranks are ended: they would wait for the failed rank for ever.
        """
        ranks = [asyncio.create_task(rank.execute()) for rank in self._ranks]
        running = set(ranks)
        try:
            while running and not any(rank.failed for rank in self._ranks):
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for rank in done:
                    rank.result()
            if running:
                await asyncio.wait(running, timeout=_GRACE_SECONDS)
                self.cancel()
            await asyncio.gather(*ranks)
            return await self._reporting.finish()
        finally:
            self.cancel()
            await asyncio.gather(*ranks, return_exceptions=True)
            self._reporting.close()
            self._meeting.cleanup()

    def prepare(self, libraries: Sequence[str]) -> None:
        """Prepare the next run: all ranks come from the same warm pool."""
        self._job.engine.expect(self._settings, libraries)

    def depends_on(self, report: Report) -> frozenset[str]:
        """Return the files that the ranks imported."""
        return frozenset(report.files)

    def _take_note(self) -> None:
        if all(rank.ended for rank in self._ranks):
            self._reporting.end()
        else:
            self._reporting.more()

    def _report(self) -> Report:
        facts_of = {rank.number: tuple(rank.facts) for rank in self._ranks}
        return merged(
            [
                RankReport(rank.number, self._job.fold(rank.run.torch, facts))
                for rank, facts in zip(self._ranks, with_consequences(facts_of).values(), strict=True)
            ]
        )


class _RankRun:
    """One rank: its run, and the facts of that run."""

    def __init__(
        self, number: int, run: WorkerRun, output: _RankOutput, on_facts: Callable[[], None]
    ) -> None:
        self.number = number
        self.run = run
        self.facts: list[Fact] = []
        self._output = output
        self._on_facts = on_facts

    async def execute(self) -> None:
        await self.run.execute(self._take)
        self._output.close()

    @property
    def ended(self) -> bool:
        return bool(self.facts) and isinstance(self.facts[-1], RunFinished)

    @property
    def failed(self) -> bool:
        return has_failed(self.facts)

    def _take(self, facts: Sequence[Fact]) -> None:
        self.facts += facts
        self._on_facts()


class _RankOutput:
    """The output of one rank, each line with the rank's number in front of it."""

    def __init__(self, rank: int, write: Callable[[str], None]) -> None:
        self._prefix = f"[rank {rank}] "
        self._write = write
        self._begun = ""

    def write(self, text: str) -> None:
        """Pass on complete lines only, so that output of ranks mixes line by line."""
        *lines, self._begun = (self._begun + text).split("\n")
        self._write("".join(f"{self._prefix}{line}\n" for line in lines))

    def close(self) -> None:
        """Pass on the last line if it has no line end."""
        if self._begun:
            self.write("\n")


def variables_of(rank: int, world_size: int, port: int) -> tuple[tuple[str, str], ...]:
    """Return the variables that torchrun sets for a rank of a one-machine job."""
    return (
        ("RANK", str(rank)),
        ("LOCAL_RANK", str(rank)),
        ("ROLE_RANK", str(rank)),
        ("GROUP_RANK", "0"),
        ("WORLD_SIZE", str(world_size)),
        ("LOCAL_WORLD_SIZE", str(world_size)),
        ("ROLE_WORLD_SIZE", str(world_size)),
        ("GROUP_WORLD_SIZE", "1"),
        ("ROLE_NAME", "default"),
        ("MASTER_ADDR", _MASTER),
        ("MASTER_PORT", str(port)),
        ("TORCHELASTIC_RUN_ID", "none"),
        ("TORCHELASTIC_RESTART_COUNT", "0"),
        ("TORCHELASTIC_MAX_RESTARTS", "0"),
        # There is no agent to host the store: the first rank hosts it.
        ("TORCHELASTIC_USE_AGENT_STORE", "False"),
    )


def _shared(settings: RunSettings, ranks: int) -> RunSettings:
    """Return the settings of one rank: an equal share of memory, and one core."""
    env = dict(settings.env) if ranks == 1 else {"OMP_NUM_THREADS": "1", **settings.env}
    return replace(settings, env=env, memory=settings.memory and settings.memory // ranks)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_MASTER, 0))
        port: int = probe.getsockname()[1]
        return port
