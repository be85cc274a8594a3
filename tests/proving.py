"""Proofs of fixes in forks of one warm process, as ``fullgraph fix`` runs them.

The fixes are those of a script.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from code_hash import digest
from fullgraph_compiler.facts import Fact, RunFinished, Switches, TargetProblem, from_json, to_json
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.model import Fix, Verdict
from fullgraph_server.fixes.prover import EditProver
from fullgraph_server.report.model import Finding
from fullgraph_server.runs.engine import RunEngine
from fullgraph_server.runs.plan import RunPlan
from fullgraph_server.runs.program_run import WorkerRequest, WorkerRun
from fullgraph_server.workers.crash import REPORT_IT
from fullgraph_server.workers.settings import RunSettings
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace
from stored_runs import Store, current_store, with_paths, without_paths

_T = TypeVar("_T")
_SECONDS = 120.0
_OWN_ENDS = ("finished", "raised", "exited")
"""The ends that a program comes to by itself."""


class Proving:
    """A loop with workers, in which programs are searched for fixes. Close it."""

    def __init__(self, engine: RunEngine | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self._engine = engine or RunEngine()

    def close(self) -> None:
        """End the workers."""
        self._loop.run_until_complete(self._engine.close())
        self._loop.close()

    def run(self, path: Path, search: Callable[[EditProver], Awaitable[_T]]) -> _T:
        """What a search in the proofs of one script returns.

        Either all runs of a search are stored, or it makes all of them: comparisons read the files of runs.
        """
        store = current_store()
        if store is not None:
            with suppress(_NotStoredError):
                return self._searched(path, search, store, replays=True)
        return self._searched(path, search, store or Store(path), replays=False)

    def _searched(
        self, path: Path, search: Callable[[EditProver], Awaitable[_T]], store: Store, *, replays: bool
    ) -> _T:
        settings = RunSettings(
            sys.executable, path.parent, dict(os.environ), switches=Switches(files="discard")
        ).within(_SECONDS)
        plan = RunPlan(script_target(str(path), path.parent), settings, Workspace(path.parent))

        async def searched(folder: Path) -> _T:
            runs = _SearchRuns(self._engine, store, path, folder, replays)
            prover = EditProver(plan, runs.start, folder)
            try:
                return await search(prover)
            finally:
                await prover.close()

        with tempfile.TemporaryDirectory() as folder:
            return self._loop.run_until_complete(searched(Path(folder)))

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


class _NotStoredError(Exception):
    """Raised for a run that is not stored."""


@dataclass
class _SearchRuns:
    """The runs of one search: stored ones, or new ones, which are stored."""

    engine: RunEngine
    store: Store
    path: Path
    folder: Path
    replays: bool
    results: dict[str, str] = field(default_factory=dict)
    """The keys of runs, by the files of their results."""
    equal: Counter[str] = field(default_factory=Counter)
    """How many runs there were of each request: two runs of the same text are compared."""

    def start(self, plan: RunPlan, request: WorkerRequest, on_output: Callable[[str], None]) -> WorkerRun:
        """Return a run, as :class:`RunEngine` does. Raises :class:`_NotStoredError`."""
        key = self._key(plan, request)
        if self.replays:
            stored = self.store.get(key)
            if stored is None:
                raise _NotStoredError(key)
            return cast(WorkerRun, _StoredRun(self._paths(with_paths, stored), on_output))
        printed: list[str] = []

        def on_both(text: str) -> None:
            printed.append(text)
            on_output(text)

        def on_end(run: WorkerRun, facts: Sequence[Fact]) -> None:
            made = {"torch": run.torch, "printed": "".join(printed), "facts": to_json(facts)}
            self.store.made[key] = self._paths(without_paths, made)

        return cast(WorkerRun, _NewRun(self.engine.run(plan, request, on_both), on_end))

    def _key(self, plan: RunPlan, request: WorkerRequest) -> str:
        content = to_json(request)
        del content["generation"]
        record = content.pop("record", "")
        for name in ("before", "after"):
            content[name] = self.results.get(content.get(name, ""))
        settings = plan.settings
        env = {name: value for name, value in settings.env.items() if os.environ.get(name) != value}
        text = self.path.read_text()
        key = digest(text, self._paths(without_paths, [content, to_json(settings.switches), env]))
        self.equal[key] += 1
        key = f"{key}-{self.equal[key]}"
        if record:
            self.results[record] = key
        return key

    def _paths(self, change: Callable[..., Any], value: Any) -> Any:
        return change(value, results=self.folder, folder=self.path.parent)


@dataclass(eq=False)
class _NewRun:
    """A run whose facts are stored when it has ended.

    Raises ``AssertionError`` if the worker crashed, ran out of time, or did not start, or if Fullgraph itself
    failed. Otherwise, a test of wrong edits would pass without any run: no edit is verified then.
    """

    run: WorkerRun
    on_end: Callable[[WorkerRun, Sequence[Fact]], None]

    @property
    def torch(self) -> str:
        return self.run.torch

    def cancel(self) -> None:
        self.run.cancel()

    async def execute(self, on_facts: Callable[[Sequence[Fact]], None]) -> None:
        facts: list[Fact] = []

        def on_both(more: Sequence[Fact]) -> None:
            facts.extend(more)
            on_facts(more)

        await self.run.execute(on_both)
        problems = [fact for fact in facts if isinstance(fact, TargetProblem)]
        (status,) = (fact.status for fact in facts if isinstance(fact, RunFinished))
        failed = status not in _OWN_ENDS or any(REPORT_IT in problem.hints for problem in problems)
        assert not failed, f"a run is lost: {status}, {[problem.message for problem in problems]}"
        self.on_end(self.run, facts)


@dataclass(eq=False)
class _StoredRun:
    """A run that was made in an earlier test run."""

    stored: dict[str, Any]
    on_output: Callable[[str], None]

    @property
    def torch(self) -> str:
        return str(self.stored["torch"])

    def cancel(self) -> None:
        """Do nothing: it ends at once."""

    async def execute(self, on_facts: Callable[[Sequence[Fact]], None]) -> None:
        self.on_output(self.stored["printed"])
        on_facts(cast("Sequence[Fact]", from_json(self.stored["facts"])))
