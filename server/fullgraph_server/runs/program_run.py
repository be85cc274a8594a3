"""One request to a worker, from start to end; every end becomes facts."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from fullgraph_compiler.facts import (
    CHANNEL_LOST,
    COMPILER,
    PROTOCOL_VERSION,
    CallsRequest,
    CompareRequest,
    Fact,
    MinifyRequest,
    RunFinished,
    RunRequest,
    Severity,
    Stack,
    Status,
    TargetProblem,
    TrialRequest,
    from_json,
    to_json,
)

from ..analyses.registry import of_depth
from ..workers.channel import WorkerRefusal
from ..workers.crash import REPORT_IT, crash_stack, describe_exit, early_end, own_failure
from ..workers.pool import WorkerPool
from ..workers.probe import CHOOSE
from ..workers.settings import RunSettings
from ..workers.warm_pool import START_SECONDS, StartError, silent
from ..workers.worker import Worker
from ..workspace.bundled import worker_folder

_log = logging.getLogger(__name__)

_EXIT_SECONDS = 2.0
"""Seconds for a worker to exit after its last answer, or to write its stack."""

_LONGER = (
    "Give it longer with the setting fullgraph.timeout in an editor, timeout in pyproject.toml, "
    "or --timeout on the command line."
)
_MORE = (
    "Give it more with the setting fullgraph.memory in an editor, memory in pyproject.toml, "
    "or --memory on the command line."
)
_WITHOUT_DATA = (
    "Or analyze the program without data: with the quick fix Dry Run in an editor, "
    "dry-run = true in pyproject.toml, or --dry-run on the command line."
)
_GIB = 1 << 30

_T = TypeVar("_T")


@dataclass(frozen=True)
class _RunEnding:
    """The end of a run whose worker did not report it."""

    status: Status
    message: str = ""
    """The message of the problem to report: information if the run reached its time limit, else an error."""
    hints: tuple[str, ...] = ()
    stack: Stack = ()
    exit_code: int | None = None


WorkerRequest: TypeAlias = RunRequest | MinifyRequest | CompareRequest | TrialRequest | CallsRequest
"""The requests that a worker can get on behalf of a target."""

_METHODS: Final[Mapping[type[WorkerRequest], str]] = {
    RunRequest: "run",
    MinifyRequest: "minify",
    CompareRequest: "compare",
    TrialRequest: "try",
    CallsRequest: "observe",
}
"""The worker's methods, by the requests that they take."""

OnOutput: TypeAlias = Callable[[str], None]
"""A function that receives what a program prints."""

_Cause: TypeAlias = Literal["answered", "exited", "timeout", "memory"]


class WorkerRun:
    """One run of a worker's request. Execute it once."""

    torch: str
    """The version of the target's torch; empty until the worker has reported it."""

    def __init__(
        self,
        workers: WorkerPool,
        settings: RunSettings,
        request: WorkerRequest,
        libraries: Sequence[str] = (),
        on_output: OnOutput | None = None,
    ) -> None:
        self.torch = ""
        self._workers = workers
        self._settings = settings
        self._request = request
        self._libraries = libraries
        self._on_output = on_output or to_stderr
        self._step: asyncio.Future[Any] | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """End the run now; the facts so far are kept."""
        self._cancelled = True
        self._give_up()

    def _give_up(self) -> None:
        if self._step is not None:
            self._step.cancel()

    async def execute(self, on_facts: Callable[[Sequence[Fact]], None]) -> None:
        """Run the program, and pass its facts to ``on_facts`` as they arrive.

        Failures of the program, the interpreter or Fullgraph are not raised: they become facts. The last
        fact is always ``RunFinished``; an error that ``on_facts`` raises for this fact is raised.
        """
        delivery = _FactDelivery(self._request.generation, on_facts, self._give_up)
        try:
            ending = await self._run(delivery)
            if delivery.error is not None:
                raise delivery.error
        except Exception as error:
            error = delivery.error or error
            _log.error("a run failed", exc_info=error)
            ending = _RunEnding("crashed", own_failure(error), (REPORT_IT,))
        if not delivery.finished:
            delivery.finish(ending)

    async def _run(self, delivery: _FactDelivery) -> _RunEnding:
        if not self._settings.cwd.is_dir():
            return _RunEnding("not-started", f"The folder to run in does not exist: {self._settings.cwd}")
        if isinstance(self._request, RunRequest) and self._request.depth == "alone":
            # Have the next workers import TorchInductor ahead: more runs of this depth will follow.
            self._workers.expect(self._settings, [*self._libraries, COMPILER])
        elif isinstance(self._request, RunRequest) and self._request.record:
            # Results are recorded to compare them with those of many more runs.
            self._workers.expect(self._settings, self._libraries)
        try:
            worker = await self._interruptible(self._workers.take(self._settings, self._libraries))
        except StartError as error:
            return _RunEnding("not-started", str(error), (CHOOSE,))
        except _CancelledError:
            return _RunEnding("cancelled")
        log = ""
        try:
            worker.listen(delivery.take, self._on_output)
            ending = await self._interruptible(self._converse(worker))
        except _CancelledError:
            ending = _RunEnding("cancelled")
        finally:
            try:
                log = await worker.close()
            finally:
                self._workers.give_back(worker)
        if ending.status in ("crashed", "timeout", "memory") and _runs_it_itself(self._request):
            return _with_stack(ending, crash_stack(log, worker_folder()))
        return ending

    async def _interruptible(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Await work that :meth:`cancel` may interrupt.

        Raises :class:`_CancelledError` if the work was interrupted.
        """
        step = self._step = asyncio.ensure_future(work)
        if self._cancelled:
            step.cancel()
        try:
            await asyncio.wait({step})
        finally:
            self._step = None
            step.cancel()  # has no effect on a finished step; an unfinished one means this task was cancelled
        if not step.cancelled():
            return cast(_T, step.result())
        if self._cancelled:
            raise _CancelledError
        raise RuntimeError("the worker was taken away")

    async def _converse(self, worker: Worker) -> _RunEnding:
        ending = await self._greet(worker)
        if ending is not None:
            return ending
        process = worker.process
        answer = worker.request(_METHODS[type(self._request)], to_json(self._request))
        cause = await self._settled(worker, answer, self._settings.timeout)
        if cause == "timeout":
            process.abort()
        if cause in ("timeout", "memory"):
            await asyncio.wait({process.exited}, timeout=_EXIT_SECONDS)
            return self._exhausted(cause)
        if cause == "answered" and isinstance(answer.result(), WorkerRefusal):
            return _RunEnding("crashed", f"The worker failed: {answer.result().message}", (REPORT_IT,))
        await asyncio.wait({process.exited}, timeout=_EXIT_SECONDS)
        return _death(process.exited.result()) if process.exited.done() else _RunEnding("crashed", _SILENT)

    def _exhausted(self, budget: Literal["timeout", "memory"]) -> _RunEnding:
        settings = self._settings
        if budget == "timeout":
            message = f"Stopped after {settings.timeout:g} s, its time limit: the rest was not analyzed."
            return _RunEnding("timeout", message, (_LONGER,))
        gib = (settings.memory or 0) / _GIB
        request = self._request
        dry = not isinstance(request, RunRequest) or request.switches.without_data
        hints = (_MORE,) if dry else (_MORE, _WITHOUT_DATA)
        return _RunEnding("memory", f"The program used more than {gib:.3g} GiB of memory.", hints)

    async def _greet(self, worker: Worker) -> _RunEnding | None:
        """Wait for the worker's greeting; return an ending if the worker is unusable."""
        python, process = self._settings.python, worker.process
        cause = await self._settled(worker, worker.hello, START_SECONDS)
        if cause == "timeout":
            return _RunEnding("not-started", silent(python), (CHOOSE,))
        if cause != "answered":
            message = early_end(python, process.exited.result(), worker.output.tail)
            return _RunEnding("not-started", message, (CHOOSE,))
        hello = worker.hello.result()
        if isinstance(hello, WorkerRefusal):
            return _RunEnding("not-started", hello.message, (CHOOSE,))
        if not isinstance(hello, dict) or hello.get("protocol") != PROTOCOL_VERSION:
            return _RunEnding(
                "not-started", f"{python} runs another version of Fullgraph: restart the server."
            )
        self.torch = str(hello.get("torch", ""))
        return None

    async def _settled(self, worker: Worker, answer: asyncio.Future[Any], timeout: float | None) -> _Cause:
        """Wait for the answer, the end of the process, or an exceeded limit."""
        process = worker.process
        await asyncio.wait(
            {answer, process.exited, process.exceeded}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
        if process.exceeded.done():
            return "memory"
        if process.exited.done() and not answer.done():
            await worker.drain()
        if answer.done():
            return "answered"
        return "exited" if process.exited.done() else "timeout"


def _runs_it_itself(request: WorkerRequest) -> bool:
    """Tell whether the worker's own process runs the program.

    If a child process runs the program, the worker's stack says nothing about the program.
    """
    if not isinstance(request, RunRequest):
        return False
    analysis = of_depth(request.depth)
    return analysis is None or not analysis.repeats


class _CancelledError(Exception):
    """The cancellation of a run."""


class _FactDelivery:
    """Delivery of one run's facts; no fact is delivered after ``RunFinished``."""

    def __init__(
        self,
        generation: int,
        on_facts: Callable[[Sequence[Fact]], None],
        give_up: Callable[[], None],
    ) -> None:
        self.finished = False
        self.error: Exception | None = None
        """The error that ``on_facts`` raised; if there is one, later facts of the worker are dropped."""
        self._begun = time.monotonic()
        self._generation = generation
        self._on_facts = on_facts
        self._give_up = give_up

    def take(self, params: Any) -> None:
        """Deliver the facts in the parameters of a ``facts`` notification."""
        if self.error is not None:
            return
        try:
            self._deliver(self._read(params))
        except Exception as error:
            self.finished, self.error = False, error
            self._give_up()

    def _read(self, params: Any) -> Sequence[Fact]:
        try:
            of_this_run = params["generation"] == self._generation
            return cast(Sequence[Fact], from_json(params["facts"])) if of_this_run else ()
        except (KeyError, TypeError, ValueError):
            _log.exception("the worker sent facts that cannot be read")
            return ()

    def finish(self, ending: _RunEnding) -> None:
        """Deliver the end of a run whose worker did not report it."""
        facts: list[Fact] = []
        if ending.message:
            severity: Severity = "information" if ending.status == "timeout" else "error"
            facts.append(TargetProblem(severity, ending.message, ending.hints, ending.stack))
        facts.append(RunFinished(ending.status, 0.0, ending.exit_code))
        self._deliver(facts)

    def _deliver(self, facts: Sequence[Fact]) -> None:
        if self.finished or not facts:
            return
        last = next((index for index, fact in enumerate(facts) if isinstance(fact, RunFinished)), None)
        if last is not None:
            self.finished = True
            # The worker's own time leaves out its start and torch's import, for which the user waits, too.
            end = replace(cast(RunFinished, facts[last]), seconds=time.monotonic() - self._begun)
            facts = [*facts[:last], end]
        self._on_facts(facts)


def to_stderr(text: str) -> None:
    """Write a program's output to standard error.

    Standard error is flushed at once, since a prompt has no line end.
    """
    sys.stderr.write(text)
    sys.stderr.flush()


# -- sentences ---------------------------------------------------------------------------------

_LOST = (
    "The program closed the file descriptors through which Fullgraph observes it: the rest was not observed."
)
_LEAVE_OPEN = "Close only the program's own files, not all file descriptors (os.closerange)."
_SILENT = "The worker answered, but did not say how the program ended."


def _death(returncode: int) -> _RunEnding:
    if returncode == CHANNEL_LOST:
        return _RunEnding("crashed", _LOST, (_LEAVE_OPEN,))
    how = describe_exit(returncode)
    if returncode < 0:
        return _RunEnding("crashed", f"The program crashed: {how}.")
    message = f"The process ended with {how} before the run was over (os._exit, or a crash in native code)."
    return _RunEnding("crashed", message, exit_code=returncode)


def _with_stack(ending: _RunEnding, stack: Stack) -> _RunEnding:
    return _RunEnding(ending.status, ending.message, ending.hints, stack, ending.exit_code)
