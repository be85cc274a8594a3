"""Run targets one after the other, and hand their reports to a format."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from fullgraph_compiler.facts import Fact, RunRequest, Severity

from ..engine.fold import fold
from ..engine.interpreter import find_interpreter, named_interpreter
from ..engine.run import Run
from ..engine.settings import RunSettings, memory_limit
from ..engine.workers import Workers
from ..workspace.config import Config, read_config
from ..workspace.targets import Target, problem_facts
from ..workspace.workspace import Workspace, project_root
from .formats import Checked, Format

FAIL_ON: Mapping[str, frozenset[Severity]] = {
    "break": frozenset({"error", "warning"}),
    "recompile": frozenset({"error", "warning", "information"}),
    "failure": frozenset({"error"}),
    "never": frozenset(),
}
"""Which severities make the exit code 1."""

_FOUND, _NOT_STARTED, _SIGNALLED = 1, 2, 128


@dataclass(frozen=True)
class CheckOptions:
    """What the command line says beside its targets. ``timeout`` in seconds, ``memory`` in GiB."""

    python: str | None
    timeout: float | None
    memory: float | None
    fail_on: str


def check_targets(targets: Sequence[Target], options: CheckOptions, write: Format) -> int:
    """Run the targets, write their reports to stdout, and return the exit code."""
    check = _Check(options)
    try:
        write(check.reports(targets), len(targets), sys.stdout)
    finally:
        check.close()
    return check.exit_code


class _Check:
    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._loop = asyncio.new_event_loop()
        self._workers = Workers()
        self._signal = 0
        self._not_started = False
        self._found = False

    @property
    def exit_code(self) -> int:
        if self._signal:
            return _SIGNALLED + self._signal
        return _NOT_STARTED if self._not_started else _FOUND if self._found else 0

    def reports(self, targets: Sequence[Target]) -> Iterator[Checked]:
        """Each report as soon as its run is over, until a signal stops everything."""
        for target in targets:
            checked = self._check(target)
            self._not_started |= checked.report.status == "not-started"
            failing = FAIL_ON[self._options.fail_on]
            self._found |= any(finding.severity in failing for finding in checked.report.findings)
            yield checked
            if self._signal:
                return

    def close(self) -> None:
        """End what the runs have left."""
        self._loop.run_until_complete(self._workers.close())
        self._loop.close()

    def _check(self, target: Target) -> Checked:
        root = _workspace_root(target.filename, target.cwd)
        config = read_config(root)
        for problem in config.problems:
            print(f"{problem.span.filename}:{problem.span.row}: {problem.message}", file=sys.stderr)  # noqa: T201
        python = _interpreter(self._options.python, config)
        timeout = self._options.timeout or target.timeout or config.timeout
        memory = memory_limit(self._options.memory or config.memory)
        settings = RunSettings(python, target.cwd, {**os.environ, **target.env}, timeout, memory)
        if sys.stderr.isatty():
            print(f"Running {target.label} with {python}", file=sys.stderr)  # noqa: T201
        facts: list[Fact] = list(problem_facts(target))
        run = Run(self._workers, settings, RunRequest(1, target.program))
        self._loop.run_until_complete(self._execute(run, facts.extend))
        workspace = Workspace(root)
        report = fold(target.id, 1, run.torch, facts, workspace, target.filename)
        return Checked(target, report, workspace)

    async def _execute(self, run: Run, on_facts: Callable[[Sequence[Fact]], None]) -> None:
        def cancel(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            if self._signal:
                raise KeyboardInterrupt
            self._signal = number
            self._loop.call_soon_threadsafe(run.cancel)

        before = {number: signal.signal(number, cancel) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            await run.execute(on_facts)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _interpreter(option: str | None, config: Config) -> str:
    if option:
        return named_interpreter(option, Path.cwd())
    return (
        named_interpreter(config.python, config.root) if config.python else find_interpreter(config.root).path
    )


def _workspace_root(filename: str, cwd: Path) -> Path:
    """The file's project; for a file in none, the current folder if the file is below it."""
    root = project_root(Path(filename))
    unmarked = root == Path(filename).parent and project_root(root.parent) == root.parent
    return cwd if unmarked and Path(filename).is_relative_to(cwd) else root
