"""One run of one target: drives a worker, and turns every way in which it can end into facts."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fullgraph_compiler.facts import (
    PROTOCOL_VERSION,
    Fact,
    RunFinished,
    RunRequest,
    Stack,
    Status,
    TargetProblem,
    from_json,
    to_json,
)

from .crash import crash_stack, describe_exit
from .probe import CHOOSE, cannot_start
from .worker import Refusal, Worker, worker_folder

_log = logging.getLogger(__name__)

_START_SECONDS = 120.0
"""Importing torch from a cold network disk takes long; what never answers is no Python."""
_EXIT_SECONDS = 2.0
"""How long a worker may take to end after its last answer, or to write where it was."""

_LONGER = (
    "Give it longer with the setting fullgraph.timeout in an editor, timeout in pyproject.toml, "
    "or --timeout on the command line."
)


@dataclass(frozen=True)
class RunSettings:
    """Where a program runs: interpreter, folder, environment, and how many seconds it may take."""

    python: str
    cwd: Path
    env: Mapping[str, str]
    timeout: float | None = None


@dataclass(frozen=True)
class _Ending:
    """Why a run is over, if its worker did not say so itself."""

    status: Status
    message: str = ""
    hints: tuple[str, ...] = ()
    stack: Stack = ()
    exit_code: int | None = None


_Cause: TypeAlias = Literal["answered", "exited", "timeout", "cancelled"]


class Run:
    """One run. Execute it once."""

    torch: str
    """The version of the target's torch, empty until it is known."""

    def __init__(
        self, settings: RunSettings, request: RunRequest, on_output: Callable[[str], None] | None = None
    ) -> None:
        self.torch = ""
        self._settings = settings
        self._request = request
        self._on_output = on_output or _to_stderr
        self._cancelled = asyncio.Event()

    def cancel(self) -> None:
        """End the run now; what it told until then stays."""
        self._cancelled.set()

    async def execute(self, on_facts: Callable[[Sequence[Fact]], None]) -> None:
        """Run the program, and give its facts to ``on_facts`` as they come.

        Whatever the program or the interpreter do, this raises nothing, and the last fact is
        ``RunFinished``.
        """
        begun = time.monotonic()
        delivery = _Delivery(self._request.generation, on_facts)
        ending = await self._attempt(delivery)
        if not delivery.finished:
            delivery.finish(ending, time.monotonic() - begun)

    async def _attempt(self, delivery: _Delivery) -> _Ending:
        settings = self._settings
        if self._cancelled.is_set():
            return _Ending("cancelled")
        if not settings.cwd.is_dir():
            return _Ending("not-started", f"The folder to run in does not exist: {settings.cwd}")
        try:
            worker = await Worker.start(
                settings.python, settings.cwd, settings.env, delivery.take, self._on_output
            )
        except (OSError, ValueError) as error:
            return _Ending("not-started", cannot_start(settings.python, error), (CHOOSE,))
        log = ""
        try:
            ending = await self._converse(worker)
        finally:
            log = await worker.close()
        if ending.status in ("crashed", "timeout"):
            return _with_stack(ending, crash_stack(log, worker_folder()))
        return ending

    async def _converse(self, worker: Worker) -> _Ending:
        ending = await self._initialize(worker)
        if ending is not None:
            return ending
        answer = worker.request("run", to_json(self._request))
        cause = await self._settled(worker, answer, self._settings.timeout)
        if cause == "cancelled":
            return _Ending("cancelled")
        if cause == "timeout":
            worker.abort()
            await asyncio.wait({worker.exited}, timeout=_EXIT_SECONDS)
            message = f"The program did not finish within {self._settings.timeout:g} s."
            return _Ending("timeout", message, (_LONGER,))
        if cause == "answered" and isinstance(answer.result(), Refusal):
            return _Ending("crashed", f"The worker failed: {answer.result().message}")
        await asyncio.wait({worker.exited}, timeout=_EXIT_SECONDS)
        return _death(worker.exited.result()) if worker.exited.done() else _Ending("crashed", _SILENT)

    async def _initialize(self, worker: Worker) -> _Ending | None:
        """Greet the worker; returns an ending if it cannot run anything."""
        python = self._settings.python
        answer = worker.request("initialize", {"protocol": PROTOCOL_VERSION})
        cause = await self._settled(worker, answer, _START_SECONDS)
        if cause == "cancelled":
            return _Ending("cancelled")
        if cause == "timeout":
            return _Ending("not-started", f"{python} did not answer within {_START_SECONDS:g} s.", (CHOOSE,))
        if cause == "exited":
            return _Ending("not-started", _early_end(python, worker), (CHOOSE,))
        hello = answer.result()
        if isinstance(hello, Refusal):
            return _Ending("not-started", hello.message, (CHOOSE,))
        if not isinstance(hello, dict) or hello.get("protocol") != PROTOCOL_VERSION:
            return _Ending("not-started", f"{python} runs another version of Fullgraph: restart the server.")
        self.torch = str(hello.get("torch", ""))
        return None

    async def _settled(self, worker: Worker, answer: asyncio.Future[Any], timeout: float | None) -> _Cause:
        """Wait for the answer, the end of the process, the time limit or a cancel."""
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait(
                {answer, worker.exited, cancelled}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            cancelled.cancel()
        if self._cancelled.is_set():
            return "cancelled"
        if worker.exited.done() and not answer.done():
            await worker.drain()
        if answer.done():
            return "answered"
        return "exited" if worker.exited.done() else "timeout"


class _Delivery:
    """Hands facts on: those of this generation, and nothing after the run has finished."""

    def __init__(self, generation: int, on_facts: Callable[[Sequence[Fact]], None]) -> None:
        self.finished = False
        self._generation = generation
        self._on_facts = on_facts

    def take(self, params: Any) -> None:
        """Take the parameters of a ``facts`` notification."""
        try:
            if params["generation"] != self._generation:
                return
            facts = from_json(params["facts"])
        except (KeyError, TypeError, ValueError):
            _log.exception("the worker sent facts that cannot be read")
            return
        self._deliver(facts)

    def finish(self, ending: _Ending, seconds: float) -> None:
        """Say how the run ended in place of a worker that could not."""
        facts: list[Fact] = []
        if ending.message:
            facts.append(TargetProblem("error", ending.message, ending.hints, ending.stack))
        facts.append(RunFinished(ending.status, seconds, ending.exit_code))
        self._deliver(facts)

    def _deliver(self, facts: Sequence[Fact]) -> None:
        if self.finished or not facts:
            return
        last = next((index for index, fact in enumerate(facts) if isinstance(fact, RunFinished)), None)
        if last is not None:
            self.finished = True
            facts = facts[: last + 1]
        self._on_facts(facts)


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)


# -- sentences ---------------------------------------------------------------------------------

_SILENT = "The worker answered, but did not say how the program ended."


def _early_end(python: str, worker: Worker) -> str:
    """Why a process ended before it answered: its last words are mostly the reason."""
    how = describe_exit(worker.exited.result())
    words = worker.output_tail.strip().splitlines()
    reason = f": {words[-1].strip()}" if words else "."
    return f"{python} ended before it could run anything, with {how}{reason}"


def _death(returncode: int) -> _Ending:
    how = describe_exit(returncode)
    if returncode < 0:
        return _Ending("crashed", f"The program crashed: {how}.")
    message = f"The process ended with {how} before the run was over (os._exit, or a crash in native code)."
    return _Ending("crashed", message, exit_code=returncode)


def _with_stack(ending: _Ending, stack: Stack) -> _Ending:
    return _Ending(ending.status, ending.message, ending.hints, stack, ending.exit_code)
