"""The oracle: run a case in a forked child of this process to see how it fails.

The child inherits modules that are already imported. This process itself never runs a graph: so it has only
one thread and does not initialize the GPU, which makes a fork safe. Answers are cached by the text of the
repro, also for later runs.
"""

from __future__ import annotations

import faulthandler
import json
import linecache
import logging
import os
import platform
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..compat import dynamo_compat, inductor_compat, torch_compat
from ..facts import Failure, as_object, from_json
from ..processes.children import ChildResult, ForkedChild, wait_for
from . import checking, repro
from .case import FailureCase
from .places import FILENAME

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OracleAnswer:
    """The failure of a case, or ``None`` if the case passes.

    ``seconds`` is the time that the query took; a cached answer keeps the time of the original query.
    """

    failure: Failure | None
    seconds: float


@dataclass(slots=True)
class FailureOracle:
    """A runner of cases, which runs several cases at a time and caches the answers.

    A case that takes longer than ``seconds`` counts as hanging. With ``after_lowering=False`` TorchInductor
    stops after lowering, so that failures of later steps do not occur.
    """

    seconds: float
    kept: AnswerCache
    after_lowering: bool = True
    queries: int = 0
    """The number of queries that ran in a child."""
    cached: int = 0
    """The number of queries that the cache answered."""
    at_once: int = field(default_factory=lambda: min(os.cpu_count() or 2, 8))

    def ask(self, cases: Sequence[FailureCase]) -> list[OracleAnswer]:
        """Return how each case fails, in the order of ``cases``."""
        answers = dict(self._answers(cases))
        return [answers[index] for index in range(len(cases))]

    def first_failing(self, cases: Iterable[FailureCase], failure: Failure) -> FailureCase | None:
        """Return the first case that fails in the same way as ``failure``.

        Cases after the returned case may run, too, because several cases run at a time.
        """
        asked: list[FailureCase] = []
        fails: dict[int, bool] = {}
        for index, answer in self._answers(_remembered(cases, asked)):
            fails[index] = answer.failure is not None and checking.same_failure(answer.failure, failure)
            settled = next((number for number in range(len(asked)) if fails.get(number, True)), None)
            if settled is not None and fails.get(settled):
                return asked[settled]
        return None

    def _answers(self, cases: Iterable[FailureCase]) -> Iterator[tuple[int, OracleAnswer]]:
        """Yield each answer when it is complete, with the index of its case."""
        source = enumerate(cases)
        running: dict[ForkedChild, tuple[int, str]] = {}
        ready: list[tuple[int, OracleAnswer]] = []
        more = True
        try:
            while more or running or ready:
                while more and len(running) < self.at_once and not ready:
                    index, case = next(source, (None, None))
                    if case is None or index is None:
                        more = False
                        break
                    text = _text(case)
                    key = self._key(text)
                    if not text:
                        ready.append((index, OracleAnswer(None, 0.0)))
                    elif (answer := self.kept.get(key)) is not None:
                        self.cached += 1
                        ready.append((index, answer))
                    else:
                        if case.backend == "inductor" and not case.on_accelerator:
                            inductor_compat.warm_up_cpp()
                        question = self._question(text, whole=case.level == "dynamo")
                        running[ForkedChild(question, self.seconds)] = (index, key)
                if ready:
                    yield ready.pop()
                elif running:
                    child = wait_for(set(running))
                    index, key = running.pop(child)
                    answer = self._answer(child.end())
                    self.queries += 1
                    self.kept.put(key, answer)
                    yield index, answer
        finally:
            for child in running:
                child.end()

    def _key(self, text: str) -> str:
        parts = (
            text,
            str(self.after_lowering),
            str(self.seconds),
            torch_compat.version(),
            platform.python_version(),
        )
        return sha256("\0".join(parts).encode()).hexdigest()

    def _question(self, text: str, *, whole: bool) -> Callable[[], Failure | None]:
        """Return a function that runs the text of a case and returns its failure.

        With ``whole``, the case fails unless Dynamo captures it as one graph.
        """

        def examine() -> Failure | None:
            if not self.after_lowering:
                inductor_compat.stop_after_lowering()
            silence()
            try:
                namespace = execute(text)
            except Exception as error:
                return Failure("error", checking.UNCOMPILED, str(error))
            dynamo_compat.forget_counts()
            failure = checking.examine(namespace)
            if failure is None and whole and (reason := dynamo_compat.in_pieces()):
                return Failure("error", checking.IN_PIECES, reason)
            return failure

        return examine

    def _answer(self, ended: ChildResult) -> OracleAnswer:
        if ended.answered:
            return OracleAnswer(ended.answer, ended.seconds)
        if ended.out_of_time:
            message = f"it takes longer than {self.seconds:g} s"
            return OracleAnswer(Failure("hang", "Hang", message), ended.seconds)
        return OracleAnswer(death(ended.code or 0), ended.seconds)


class AnswerCache:
    """A cache of answers by the hash of the query, in memory and optionally in a file."""

    def __init__(self, path: Path | None = None) -> None:
        self._answers: dict[str, OracleAnswer] = {}
        self._file = None
        if path is None:
            return
        with suppress(OSError):  # the cache also works without a file
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                for line in path.read_text("utf-8", "replace").splitlines():
                    self._read(line)
            self._file = path.open("a", encoding="utf-8")
            self._file.write("\n")  # end a line that was written incompletely

    def get(self, key: str) -> OracleAnswer | None:
        """Return the cached answer; ``None`` if the query is not cached."""
        return self._answers.get(key)

    def put(self, key: str, answer: OracleAnswer) -> None:
        """Add an answer to the cache."""
        self._answers[key] = answer
        if self._file is not None:
            entry = {"key": key, "failure": answer.failure, "seconds": answer.seconds}
            self._file.write(json.dumps(entry, default=as_object) + "\n")
            self._file.flush()

    def _read(self, line: str) -> None:
        try:
            entry = json.loads(line)
            key, failure, seconds = entry["key"], from_json(entry["failure"]), float(entry["seconds"])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            return  # an incomplete or damaged line
        if isinstance(key, str) and (failure is None or isinstance(failure, Failure)):
            self._answers[key] = OracleAnswer(failure, seconds)


def execute(text: str) -> dict[str, Any]:
    """Run the text of a case, and return its namespace."""
    # Triton reads the source of its kernels by ``linecache``.
    linecache.cache[FILENAME] = (len(text), None, text.splitlines(keepends=True), FILENAME)
    namespace: dict[str, Any] = {"__name__": "repro"}
    exec(compile(text, FILENAME, "exec"), namespace)
    return namespace


def silence() -> None:
    """Redirect the standard streams to the null device, and disable ``faulthandler``.

    Crashes of the child are expected, so the child must not dump their stacks.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    faulthandler.disable()


def death(code: int) -> Failure:
    """Return the failure for a process's exit code; negative codes are signals."""
    if code < 0:
        name = signal.Signals(-code).name
        return Failure("crash", name, f"the process is ended by {name}")
    return Failure("crash", "Exit", f"the process ends with exit code {code}")


def _text(case: FailureCase) -> str:
    """Return the program of a case.

    Empty if the program cannot be written, for example because an argument is missing.
    """
    try:
        return repro.program(case)
    except Exception:
        _log.info("a case cannot be written", exc_info=True)
        return ""


def _remembered(cases: Iterable[FailureCase], asked: list[FailureCase]) -> Iterator[FailureCase]:
    for case in cases:
        asked.append(case)
        yield case
