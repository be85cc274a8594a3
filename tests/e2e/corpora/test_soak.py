"""Programs that go wrong in every way, one after the other; ``benchmarks/soak.py`` runs hundreds of them.

After each run nothing of it is left, and the next one is answered all the same.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import processes
import pytest
import pytest_asyncio
from soaking import FAULTS, WAITS, Fault, Soak, soaking

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform != "linux", reason="it looks at processes under /proc"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def soak(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Soak]:
    async with soaking(tmp_path_factory.mktemp("soak") / "workspace") as soak:
        yield soak
        assert await soak.shut_down() == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.program)
async def test_every_run_is_answered_and_leaves_nothing_behind(soak: Soak, fault: Fault) -> None:
    assert await soak.run(fault) == []
    assert await soak.left_behind() == []


@pytest.mark.parametrize("seed", range(6))
async def test_a_run_in_which_the_server_itself_fails(soak: Soak, seed: int) -> None:
    assert await soak.run_and_fail(FAULTS[0], Random(seed)) == []
    assert await soak.left_behind() == []


@pytest.mark.parametrize("seed", range(6))
async def test_a_damaged_trace(soak: Soak, seed: int) -> None:
    assert await soak.read_damaged(Random(seed)) == []
    assert await soak.run(FAULTS[0]) == []


async def test_a_run_that_is_killed(soak: Soak) -> None:
    async def moment(run: asyncio.Future[Any]) -> list[int]:
        await soak.first_finding(run)
        return soak.workers()

    assert await soak.run_and_kill(WAITS, moment) == []
    assert await soak.left_behind() == []


async def test_a_fork_server_that_is_killed(soak: Soak) -> None:
    async def moment(run: asyncio.Future[Any]) -> list[int]:
        await soak.first_finding(run)
        return processes.children(soak.server)

    assert await soak.run_and_kill(WAITS, moment) == []
    assert await soak.left_behind() == []


async def test_a_server_that_is_killed(tmp_path: Path) -> None:
    async with soaking(tmp_path / "workspace") as soak:
        run = soak.begin(WAITS)
        await soak.first_finding(run)
        assert await soak.kill_server() == []
        await asyncio.gather(run, return_exceptions=True)
