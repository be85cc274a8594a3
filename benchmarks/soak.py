"""Hundreds of runs that go wrong in every way, in random order, on one server.

Each has to be answered with findings or one clear message; afterwards no process may be left, no zombie, and
the server may not have grown. ``tests/e2e/corpora/test_soak.py`` has one run of each kind.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

from support.client import processes
from support.measure import HERE, SMALL

sys.path[:0] = [str(HERE.parent / "tests" / "e2e" / "support")]

from soaking import FAULTS, WAITS, Fault, Soak, soaking  # noqa: E402

GROWTH_FROM = 100
"""The number of runs after which the server may not grow any more."""
MOST_GROWTH = 0.10
LATEST_KILL = 0.5
"""Seconds, about those of a run that goes well."""
DEATHS = 1 if SMALL else 5
"""How often the server itself is killed."""
BY_NAME = {fault.program: fault for fault in FAULTS}
OFTEN = {"an exception in the server": 5, "a damaged trace": 3}
"""How many times as often as others these come, of which there are many."""
VICTIMS = (BY_NAME["finds.py"], BY_NAME["fork_bomb.py"], WAITS)


class Soaking:
    """The kinds of runs, and how they went."""

    def __init__(self, soak: Soak, random: Random) -> None:
        self.wrong: list[str] = []
        self.runs: Counter[str] = Counter()
        self.answered = 0
        self._soak = soak
        self._random = random
        self._kinds: dict[str, Callable[[], Awaitable[list[str]]]] = {
            fault.program: lambda fault=fault: soak.run(fault) for fault in FAULTS
        }
        self._kinds["an exception in the server"] = lambda: soak.run_and_fail(self._victim(), random)
        self._kinds["a damaged trace"] = lambda: soak.read_damaged(random)
        self._kinds["SIGKILL of a worker"] = lambda: self._kill(soak.workers)
        self._kinds["SIGKILL of the fork server"] = lambda: self._kill(
            lambda: processes.children(soak.server)
        )

    async def one(self) -> None:
        """One run of a random kind."""
        weights = [OFTEN.get(kind, 1) for kind in self._kinds]
        (kind,) = self._random.choices([*self._kinds], weights)
        self.runs[kind] += 1
        try:
            unanswered = await self._kinds[kind]()
        except asyncio.TimeoutError:
            unanswered = ["no answer"]
        self.answered += not unanswered
        for problem in unanswered + await self._soak.left_behind():
            self.wrong.append(f"{self.runs.total()} ({kind}): {problem}")

    async def _kill(self, victims: Callable[[], list[int]]) -> list[str]:
        async def moment(run: asyncio.Future[Any]) -> list[int]:
            await asyncio.sleep(self._random.uniform(0, LATEST_KILL))
            while not (found := victims()) and not run.done():  # noqa: ASYNC110 - nothing tells of a new process
                await asyncio.sleep(0.005)
            return [self._random.choice(found)] if found else []

        return await self._soak.run_and_kill(self._random.choice(VICTIMS), moment)

    def _victim(self) -> Fault:
        return self._random.choice([fault for fault in FAULTS if fault.timeout != WAITS.timeout])


async def soak_runs(runs: int, random: Random) -> list[str]:
    """All runs on one server; prints the counts, and returns what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        async with soaking(Path(folder, "workspace")) as soak:
            soaked = Soaking(soak, random)
            early = 0
            for number in range(runs):
                if number == min(GROWTH_FROM, runs // 2):
                    early = processes.resident(soak.server)
                await soaked.one()
            growth = processes.resident(soak.server) / early - 1
            if growth > MOST_GROWTH:
                soaked.wrong.append(f"the server has grown by {growth:.0%}")
            soaked.wrong += await soak.shut_down()
    for kind, count in sorted(soaked.runs.items()):
        print(f"  {count:4} {kind}")
    print(f"  {len(soak.failed):4} calls of the server's own functions failed")
    growing = f"the server's memory grew by {growth:.1%} (target <= {MOST_GROWTH:.0%})"
    print(f"{soaked.answered} of {runs} answered; {growing}")
    return soaked.wrong


async def kill_server(random: Random) -> list[str]:
    """A run, and a server that dies at a random moment of it."""
    with tempfile.TemporaryDirectory() as folder:
        async with soaking(Path(folder, "workspace")) as soak:
            run = soak.begin(WAITS)
            if random.random() < 0.5:
                await soak.first_finding(run)
            await asyncio.sleep(random.uniform(0, LATEST_KILL))
            left = await soak.kill_server()
            await asyncio.gather(run, return_exceptions=True)
            return left


async def main() -> None:
    """Soak one server, then kill some."""
    parser = argparse.ArgumentParser(description="Run programs that go wrong in every way.")
    parser.add_argument("--runs", type=int, default=4 if SMALL else 500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    random = Random(arguments.seed)
    # The editor passes the server's log on, which is of no interest here.
    with contextlib.redirect_stderr(io.TextIOWrapper(io.BytesIO())):
        wrong = await soak_runs(arguments.runs, random)
        for _ in range(DEATHS):
            wrong += await kill_server(random)
    print(f"{DEATHS} servers killed; {len(wrong)} things wrong (seed {arguments.seed})", *wrong, sep="\n  ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    asyncio.run(main())
