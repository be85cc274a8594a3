"""Proofs of fixes in forks of one warm process, as ``fullgraph fix`` runs them.

The fixes are those of a script.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from fullgraph_compiler.facts import Switches
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.model import Fix, Verdict
from fullgraph_server.fixes.prover import EditProver
from fullgraph_server.report.model import Finding
from fullgraph_server.runs.engine import RunEngine
from fullgraph_server.runs.plan import RunPlan
from fullgraph_server.workers.settings import RunSettings
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace

_T = TypeVar("_T")
_SECONDS = 120.0


class Proving:
    """A loop with workers, in which programs are searched for fixes. Close it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._engine = RunEngine()

    def close(self) -> None:
        """End the workers."""
        self._loop.run_until_complete(self._engine.close())
        self._loop.close()

    def run(self, path: Path, search: Callable[[EditProver], Awaitable[_T]]) -> _T:
        """What a search in the proofs of one script returns."""
        settings = RunSettings(
            sys.executable, path.parent, dict(os.environ), switches=Switches(files="discard")
        ).within(_SECONDS)
        plan = RunPlan(script_target(str(path), path.parent), settings, Workspace(path.parent))

        async def searched(folder: str) -> _T:
            return await search(EditProver(plan, self._engine.run, Path(folder)))

        with tempfile.TemporaryDirectory() as folder:
            return self._loop.run_until_complete(searched(folder))

    def prove(
        self,
        path: Path,
        finding: Callable[[ExperimentState], Finding],
        fixes: Callable[[ExperimentState], Sequence[Fix]],
    ) -> list[tuple[Fix, Verdict]]:
        """The verdicts of fixes of one finding of a script, which is run as it is once."""

        async def search(prover: EditProver) -> list[tuple[Fix, Verdict]]:
            base = await prover.as_it_is()
            found = finding(base)
            return [(fix, (await prover.prove(base, base, fix, found))[0]) for fix in fixes(base)]

        return self.run(path, search)
