"""What the commands share: workers for their runs, settings from words and files, and signals."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

from fullgraph_compiler.facts import Fact

from ..engine.interpreter import find_interpreter, named_interpreter
from ..engine.requests import Request, with_limits
from ..engine.run import Run
from ..engine.settings import RunSettings, memory_limit
from ..engine.workers import Workers
from ..workspace.config import Config, read_config
from ..workspace.targets import Target
from ..workspace.workspace import project_root

NOT_STARTED, _SIGNALLED = 2, 128


@dataclass(frozen=True)
class RunOptions:
    """What the command line says of a run beside its target. ``timeout`` in seconds, ``memory`` in GiB.

    ``switches`` are the attributes of :class:`fullgraph_compiler.facts.Switches` that it names.
    """

    python: str | None = None
    timeout: float | None = None
    memory: float | None = None
    switches: Mapping[str, Any] = field(default_factory=dict)


class Session:
    """Runs targets one after the other, until a signal stops everything. Close it."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._loop = asyncio.new_event_loop()
        self._workers = Workers()
        self._signal = 0

    @property
    def signalled(self) -> int:
        """The exit code after a signal; 0 if none came."""
        return _SIGNALLED + self._signal if self._signal else 0

    def close(self) -> None:
        """End what the runs have left."""
        self._loop.run_until_complete(self._workers.close())
        self._loop.close()

    def execute(
        self,
        target: Target,
        request: Request,
        on_facts: Callable[[Sequence[Fact]], None],
    ) -> str:
        """Do what is asked for; returns the version of the target's torch."""
        root = workspace_root(target)
        config = read_config(root)
        for problem in config.problems:
            print(f"{problem.span.filename}:{problem.span.row}: {problem.message}", file=sys.stderr)  # noqa: T201
        settings, request = with_limits(self._settings(target, config), request, root)
        if sys.stderr.isatty():
            print(f"Running {target.label} with {settings.python}", file=sys.stderr)  # noqa: T201
        run = Run(self._workers, settings, request)
        self._loop.run_until_complete(self._executed(run, on_facts))
        return run.torch

    def _settings(self, target: Target, config: Config) -> RunSettings:
        python = _interpreter(self._options.python, config)
        memory = memory_limit(self._options.memory or config.memory)
        env, switches = {**os.environ, **target.env}, target.switches or config.switches
        switches = replace(switches, **self._options.switches)
        settings = RunSettings(python, target.cwd, env, memory=memory, switches=switches)
        return settings.within(self._options.timeout or target.timeout or config.timeout)

    async def _executed(self, run: Run, on_facts: Callable[[Sequence[Fact]], None]) -> None:
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


def workspace_root(target: Target) -> Path:
    """The file's project; for a file in none, the current folder if the file is below it."""
    filename, cwd = target.filename, target.cwd
    root = project_root(Path(filename))
    unmarked = root == Path(filename).parent and project_root(root.parent) == root.parent
    return cwd if unmarked and Path(filename).is_relative_to(cwd) else root
