"""The session of a command: workers, settings from options and files, signals."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any, Final, TypeVar

import click
from fullgraph_compiler.facts import Depth, Script

from ..analyses.suitability import unsuited
from ..fixes.prover import EditProver
from ..report.model import Report
from ..runs.effective_settings import SettingOverrides, resolve
from ..runs.engine import RunEngine
from ..runs.execution import execution_of, failed_report
from ..runs.minification import FailureChoice, Minification, MinifyResult
from ..runs.plan import RunJob, RunPlan
from ..workers.handover import handover_of_user
from ..workers.pool import WorkerPool
from ..workers.probe import find_package
from ..workspace.config import read_config
from ..workspace.targets import Target
from ..workspace.workspace import Workspace, is_project, project_root
from .output import tell

NOT_STARTED, _SIGNALLED = 2, 128

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})
_T = TypeVar("_T")


class CommandSession:
    """The runs of one command, one after the other, until a signal stops them.

    Close the session at the end. With ``once``, each program runs only once, and reads the user's standard
    input. With ``timed``, programs run in processes that no earlier command has used. Raises
    ``click.UsageError`` for targets that do not suit the ``purpose``.
    """

    def __init__(
        self,
        targets: Iterable[Target],
        purpose: str,
        overrides: SettingOverrides,
        *,
        once: bool = False,
        timed: bool = False,
    ) -> None:
        for problem in filter(None, (unsuited(target, purpose) for target in targets)):
            raise click.UsageError(problem)
        self._overrides = overrides
        self._loop = asyncio.new_event_loop()
        self._stdin = _program_input() if once else None
        handover = None if timed else handover_of_user()
        self._engine = RunEngine(WorkerPool(stdin=self._stdin, handover=handover))
        self._signal = 0
        self._tell_once = lru_cache(tell)

    @property
    def signalled(self) -> int:
        """The exit code after a signal; 0 if no signal has arrived."""
        return _SIGNALLED + self._signal if self._signal else 0

    def close(self) -> None:
        """End the remaining workers."""
        self._loop.run_until_complete(self._engine.close())
        self._loop.close()
        if self._stdin is not None:
            os.close(self._stdin)

    def report(self, target: Target, workspace: Workspace, depth: Depth, **switches: Any) -> Report:
        """Run a target, with ``switches`` for this run only, and return the report."""
        plan = self._plan(target, workspace, switches)
        try:
            execution = execution_of(RunJob(plan, 1, plan.depth(depth), self._engine))
            return self._until_signalled(execution.execute(), execution.cancel)
        except Exception as error:
            return failed_report(Report(target.id, 1), target.filename, error)

    def minify(
        self, target: Target, failing: FailureChoice, output: Path, on_progress: Callable[[str], None]
    ) -> MinifyResult:
        """Shrink a failure of a target to a repro.

        ``on_progress`` gets a message about each step.
        """
        plan = self._plan(target, Workspace(workspace_root(target)))
        minification = Minification(plan, failing, output, self._engine.run)
        return self._until_signalled(minification.execute(on_progress), minification.cancel)

    def prove(
        self,
        target: Target,
        workspace: Workspace,
        folder: Path,
        search: Callable[[EditProver], Coroutine[Any, Any, _T]],
    ) -> _T:
        """Search for fixes of a target; recordings of its runs are written to ``folder``."""
        prover = EditProver(self._plan(target, workspace), self._engine.run, folder)
        return self._until_signalled(search(prover), prover.cancel)

    def package_places(self, name: str, target: Target) -> tuple[str, ...] | None:
        """Return the file and folders of a package as a target's interpreter finds it.

        Returns ``None`` if the interpreter does not answer.
        """
        target, settings = resolve(target, read_config(workspace_root(target)), self._overrides)
        is_file = isinstance(target.program, Script) and not target.program.module
        folder = os.path.dirname(target.filename) if is_file else str(settings.cwd)
        finding = find_package(name, settings.python, folder, str(settings.cwd), settings.env)
        return self._loop.run_until_complete(finding)

    def _plan(self, target: Target, workspace: Workspace, switches: Mapping[str, Any] = _NONE) -> RunPlan:
        config = read_config(workspace.root)
        for problem in config.problems:
            self._tell_once(f"{problem.span.filename}:{problem.span.row}: {problem.message}")
        overrides = replace(self._overrides, switches={**self._overrides.switches, **switches})
        target, settings = resolve(target, config, overrides)
        if sys.stderr.isatty():
            tell(f"Running {target.label} with {settings.python}")
        return RunPlan(target, settings, workspace).of_cells()

    def _until_signalled(self, execution: Coroutine[Any, Any, _T], cancel: Callable[[], None]) -> _T:
        """Wait for an execution; a signal cancels it.

        A second signal ends everything at once.
        """

        def take(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            if self._signal:
                raise KeyboardInterrupt
            self._signal = number
            self._loop.call_soon_threadsafe(cancel)

        before = {number: signal.signal(number, take) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            return self._loop.run_until_complete(execution)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _program_input() -> int | None:
    """Duplicate the user's standard input; ``None`` if the command must not read it.

    A command in the background must not read: its program runs in a POSIX session of its own, where the
    terminal would not stop it.
    """
    if sys.platform == "win32":
        return None
    try:
        if os.isatty(0) and os.tcgetpgrp(0) != os.getpgrp():
            return None
        return os.dup(0)
    except OSError:
        return None  # closed, or a terminal that does not control this process


def workspace_root(target: Target) -> Path:
    """Return the root of the project that contains a target's file.

    If the file is below the target's working folder and not in a project, return the working folder.
    """
    root, cwd = project_root(Path(target.filename)), target.cwd
    return cwd if not is_project(root) and Path(target.filename).is_relative_to(cwd) else root
