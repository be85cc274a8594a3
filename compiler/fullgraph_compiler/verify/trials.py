"""Trials: run old and new statements alone, on a program's values.

The values are those at the point where the program reaches the statements.
"""

from __future__ import annotations

import ast
import builtins
import functools
import io
import os
import sys
import time
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from ..capture.run import run
from ..facts import (
    CallsRequest,
    Fact,
    ProgramRaised,
    RunFinished,
    RunRequest,
    SourceText,
    StatementsTried,
    TargetProblem,
    Trial,
    TrialRequest,
)
from ..observe.live import Sink
from ..processes.children import run_child
from ..processes.processes import limit_memory
from .branches import BranchCoverage, is_caught, untaken
from .environment import Path as ValuePath
from .environment import ReachedConstants, TrialEnvironment, allow_more_copies, reached, shared_data
from .executing import OF_EXPANDED, NeedsOwnProcessError, OutcomeDifference, StatementOutcome, StatementRunner
from .recording import same_draws, set_seeds
from .statements import (
    PROBE,
    TrialError,
    TrialStatements,
    as_compiling,
    asks_for_compiling,
    find,
)
from .values import TrialValues, cases, modules, pushes, random_case, slots

_MOST_VISITS = 4
"""The most visits of one trial: enough for the first and a later iteration of a loop, in training and
evaluation mode."""
_MOST_CASES = 120
_MOST_CASES_LATER = 40
"""The most cases of a later visit: the first has tried most values."""
_MEMORY = 2 << 30
"""How many bytes a trial may allocate at least: with a changed number as a size, it would take all."""
_OF_ENDS = ("IndexError", "RuntimeError")
"""The errors of operations on positions or sizes that do not exist."""
_MOST_SEARCHED = 48
_LEAST_SEARCHED = 8
"""The least number of random cases, even after all branches were taken: some differences need a rare
combination."""
_LEAST_OF_TRUTHS = 32
"""The least number of random cases if there are tensors of truth values, whose patterns matter."""
_OF_TYPES = (
    "RuntimeError", "TypeError", "AttributeError", "IndexError", "NotImplementedError", "KeyError",
    OF_EXPANDED,
)  # fmt: skip
"""Exceptions of operations on values of a wrong type or shape. On values that Fullgraph made up, they prove
nothing unless the program catches them."""
_NEEDS_PROCESS = "needs a process of its own"


def try_statements(request: TrialRequest, sink: Sink) -> None:
    """Run a request's program uncompiled; report ``StatementsTried`` for each trial."""
    session = _TrialSession(request)
    texts = session.instrumented()
    setattr(builtins, PROBE, session.visit)

    def take(facts: list[Fact]) -> None:
        last = [fact for fact in facts if isinstance(fact, RunFinished)]
        others: list[Fact] = [fact for fact in facts if isinstance(fact, (ProgramRaised, TargetProblem))]
        if others and not session.ended:
            sink(others)
        if last:
            sink([*session.outcomes(), *last])

    run_uncompiled(request, texts, take)


def run_uncompiled(request: TrialRequest | CallsRequest, texts: tuple[SourceText, ...], take: Sink) -> None:
    """Run the program of a request uncompiled, with the given source texts."""

    def prepare() -> None:
        torch.compiler.set_stance("force_eager")
        set_seeds(0)

    run(RunRequest(request.generation, request.program, texts=texts), take, prepare)


@dataclass
class _VisitResult:
    """The results of the cases of one visit, merged."""

    cases: int = 0
    taken: set[tuple[int, bool]] = field(default_factory=set)
    difference: str = ""
    problem: str = ""
    depends_on_use: bool = False
    mild: str = ""
    """The first mild difference."""

    @property
    def is_over(self) -> bool:
        """Whether more cases cannot change the result.

        If a difference matters only for some later uses, another case may find one that always matters.
        """
        return bool(self.problem or (self.difference and not self.depends_on_use))

    def differ(self, found: OutcomeDifference) -> None:
        """Record a difference, unless an equal or more definite one is known.

        A difference that always matters replaces a difference that depends on later use.
        """
        if found.is_mild:
            self.mild = self.mild or found.words
        elif found and (not self.difference or (self.depends_on_use and not found.depends_on_use)):
            self.difference, self.depends_on_use = found.words, found.depends_on_use


@dataclass
class _TrialState:
    """A trial, with the merged results of its visits."""

    trial: Trial
    statements: TrialStatements | None = None
    visits: int = 0
    signatures: set[Any] = field(default_factory=set)
    found: _VisitResult = field(default_factory=_VisitResult)

    @property
    def settled(self) -> bool:
        return self.found.is_over or self.visits >= _MOST_VISITS


class _TrialsFinished(SystemExit):
    """Raised to end the program when all statements have been tried."""


class _TrialSession:
    def __init__(self, request: TrialRequest) -> None:
        self._request = request
        self._states = {trial.number: _TrialState(trial) for trial in request.trials}
        self._busy = False
        self.ended = False

    def instrumented(self) -> tuple[SourceText, ...]:
        """Return the run's source texts, with a probe before each trial's statements."""
        texts = {real_name(item.filename): item for item in self._request.texts}
        for filename in dict.fromkeys(real_name(trial.filename) for trial in self._request.trials):
            states = [item for item in self._states.values() if real_name(item.trial.filename) == filename]
            try:
                tree = ast.parse(text_of(filename, texts.get(filename)))
            except (OSError, SyntaxError, ValueError) as error:
                for state in states:
                    state.found.problem = f"{Path(filename).name} cannot be read: {error}."
                continue
            for state in states:
                try:
                    state.statements = find(tree, state.trial)
                except TrialError as problem:
                    state.found.problem = str(problem)
            texts[filename] = SourceText(filename, ast.unparse(ast.fix_missing_locations(tree)) + "\n")
        return tuple(texts.values())

    def visit(self, number: int) -> None:
        """Try a trial's statements; called by the probe before the statements."""
        state = self._states[number]
        if self._busy or state.settled or torch.compiler.is_compiling():
            return
        assert state.statements is not None
        self._busy = True
        with same_draws():
            try:
                self._try(state, state.statements, sys._getframe(1))
            except TrialError as problem:
                state.found.problem = str(problem)
            finally:
                self._busy = False
        if all(item.settled for item in self._states.values()):
            self.ended = True
            raise _TrialsFinished(0)

    def outcomes(self) -> Iterator[StatementsTried]:
        """Yield the outcome of each trial."""
        for number, state in self._states.items():
            found, statements = state.found, state.statements
            problem = found.problem
            if not problem and not state.visits:
                problem = f"The program does not reach line {state.trial.row}."
            left: tuple[str, ...] = ()
            if statements and not problem:
                left = untaken(BranchCoverage(statements.old, statements.kept, statements.loops), found.taken)
            yield StatementsTried(
                number, found.cases, left, found.difference, problem, found.depends_on_use, found.mild
            )

    def _try(self, state: _TrialState, statements: TrialStatements, frame: FrameType) -> None:
        local = dict(frame.f_locals)
        named = {name: local[name] for name in statements.names if name in local and name != "__class__"}
        shared = shared_data(frame.f_globals, statements.names, named, statements.in_functions)
        environment = TrialEnvironment(named, shared)
        called = reached(statements, environment, frame.f_globals)
        signature = _signature(slots(statements, environment, called))
        if signature in state.signatures:
            return
        state.signatures.add(signature)
        state.visits += 1
        uses_super = any(name == "super" for name in statements.names)
        if uses_super and "__class__" not in local:
            raise TrialError("`super()` can only be tried in a function that already uses it.")
        visit = _TrialVisit(
            statements,
            environment,
            called,
            frame.f_globals,
            local.get("__class__"),
            self._request.patience,
            state.trial,
            is_caught(frame),
            _MOST_CASES if state.found.cases < _MOST_CASES_LATER else _MOST_CASES_LATER,
        )
        _merge(state.found, self._answer(visit))

    def _answer(self, visit: _TrialVisit) -> _VisitResult:
        """Try all cases, in a child process if possible.

        Side effects and crashes in the child process do not reach the program.
        """
        if sys.platform == "linux" and not torch.cuda.is_initialized():
            ended = run_child(visit.in_child, self._request.patience)
            if ended.answered and ended.answer != _NEEDS_PROCESS:
                return ended.answer  # type: ignore[no-any-return]
            if ended.out_of_time:
                return _VisitResult(problem=f"Trying them took longer than {self._request.patience:g} s.")
            if not ended.answered:
                return _VisitResult(problem=f"Trying them ended the process (exit code {ended.code}).")
        return visit.found()


class _TrialVisit:
    """The statements at one visit, with the program's values at that time."""

    def __init__(
        self,
        statements: TrialStatements,
        environment: TrialEnvironment,
        called: ReachedConstants,
        namespace: dict[str, Any],
        cls: object,
        patience: float,
        trial: Trial,
        caught: bool,
        most_cases: int,
    ) -> None:
        self._most_cases = most_cases
        self._caught = caught
        self._define = functools.partial(_define, trial.defines, namespace)
        self._news = [list(statements.new)]
        if asks_for_compiling(statements.new):
            self._news.append(as_compiling(statements.new))
        self._statements = statements
        self._environment = environment
        self._called = called
        self._branches = BranchCoverage(statements.old, statements.kept, statements.loops)
        self._runner = StatementRunner(statements, namespace, cls, caught=caught)
        self._answer = _VisitResult()
        self._patience = patience
        self._deadline = time.monotonic() + patience / 2
        self._gradients = trial.gradients

    def in_child(self) -> Any:
        """Return the results of the cases; call this method in a forked child process.

        A forked process has only one thread. Return ``_NEEDS_PROCESS`` if autograd cannot run in the child
        process.
        """
        torch.set_num_threads(1)
        limit_memory(_MEMORY)
        try:
            return self.found()
        except NeedsOwnProcessError:
            return _NEEDS_PROCESS

    def found(self) -> _VisitResult:
        """Run the cases, and return their merged results."""
        allow_more_copies()
        self._answer = _VisitResult()
        try:
            self._define()
            self._all()
        except TrialError as problem:
            self._answer.problem = str(problem)
        return self._answer

    def _all(self) -> None:
        given = slots(self._statements, self._environment, self._called)
        named = modules(self._statements, self._environment)
        listed = cases(self._statements, given, named, self._called)
        gaps: dict[int, float] = {}
        for case in listed:
            if self._answer.cases >= self._most_cases or self._is_over():
                break
            valid = self._compare(case)
            if case.words == "" and valid and not gaps:
                gaps = dict(self._branches.gaps)
        for case in self._boundaries(given):
            if self._is_over():
                break
            self._compare(case)
        # The search for branches gets extra time, since slow statements use up that of the listed cases.
        self._deadline = max(self._deadline, time.monotonic() + self._patience / 4)
        has_truths = any(getattr(value, "dtype", None) == torch.bool for value in given.values())
        least = _LEAST_OF_TRUTHS if has_truths else _LEAST_SEARCHED
        for number in range(_MOST_SEARCHED):
            enough = number >= least or self._most_cases < _MOST_CASES
            done = enough and not untaken(self._branches, self._answer.taken)
            if self._is_over() or done:
                return
            self._compare(random_case(self._statements, given, number))

    def _is_over(self) -> bool:
        return self._answer.is_over or time.monotonic() > self._deadline

    def _boundaries(self, given: dict[ValuePath, Any]) -> Iterator[TrialValues]:
        """Yield cases with equal operands of a comparison, and with the other outcome."""
        for words, path, change in pushes(self._statements, given):
            measured = [self._measured(TrialValues(words, {path: change(amount)})) for amount in (0.0, 1.0)]
            for condition in measured[0]:
                if condition not in measured[1]:
                    continue
                first, second = (gaps[condition] for gaps in measured)
                slope = second - first
                if not slope or slope != slope:
                    continue
                amount = -first / slope
                for factor in (1.0, 2.0, 0.5):
                    yield TrialValues(f"{words} by {amount * factor:g}", {path: change(amount * factor)})

    def _measured(self, case: TrialValues) -> dict[int, float]:
        self._branches.clear()
        try:
            self._old_outcome(case.applied(self._environment, self._statements), case.seed)
        except TrialError:
            raise
        except Exception:
            return {}
        return dict(self._branches.gaps)

    def _old_outcome(
        self, environment: TrialEnvironment, seed: int, *, gradients: bool = False
    ) -> StatementOutcome:
        return self._runner.run(
            self._branches.instrumented, environment, seed, gradients=gradients, branches=self._branches
        )

    def _compare(self, case: TrialValues) -> bool:
        """Run old and new statements on a case; return whether the case was valid."""
        try:
            environment = case.applied(self._environment, self._statements)
        except TrialError:
            raise
        except Exception:
            return False  # the change does not fit the value
        self._branches.clear()
        old = self._old_outcome(environment, case.seed)
        taken = set(self._branches.taken)
        if case.is_optional and old.is_error:
            return False
        if case.words and old.end in _OF_TYPES and not old.by_statement and not self._caught:
            return False
        for nodes in self._news:
            new = self._runner.run(nodes, environment, case.seed, gradients=False)
            if case.words and self._statements.runs_skipped and new.is_error and not old.is_error:
                if self._caught:
                    words = f"with {case.words}, raises {new.end}, which is caught"
                    self._answer.differ(OutcomeDifference(words))
                return False  # the code that was skipped cannot run on these values
            difference = self._runner.difference(old, new, is_rough=case.is_rough)
            if self._gradients and (not difference or difference.is_mild):
                difference = self._gradients_differ(environment, case, nodes) or difference
            if difference:
                words = f"with {case.words or 'the values of the run'}, {difference.words}"
                is_mild = difference.is_mild or case.is_rough or case.is_foreign
                may_raise = self._statements.raises_more and not self._caught
                is_mild = is_mild or (may_raise and new.end in _OF_ENDS and bool(case.words))
                self._answer.differ(OutcomeDifference(words, difference.depends_on_use, is_mild))
        self._answer.cases += 1
        self._answer.taken |= taken
        return True

    def _gradients_differ(
        self, environment: TrialEnvironment, case: TrialValues, nodes: list[ast.stmt]
    ) -> OutcomeDifference:
        """Run the case again with gradients; return the difference.

        The difference is empty if gradients cannot be taken of the old statements.
        """
        try:
            old = self._old_outcome(environment, case.seed, gradients=True)
        except (TrialError, NeedsOwnProcessError):
            raise
        except Exception:
            return OutcomeDifference()
        if old.is_error:
            return OutcomeDifference()
        try:
            new = self._runner.run(nodes, environment, case.seed, gradients=True)
        except (TrialError, NeedsOwnProcessError):
            raise
        except Exception as error:
            return OutcomeDifference(f"gradients: {type(error).__name__}: {error}".splitlines()[0])
        return self._runner.difference(old, new, is_rough=case.is_rough)


def _define(text: str, namespace: dict[str, Any]) -> None:
    try:
        exec(compile(text, "<definitions>", "exec", dont_inherit=True), namespace)
    except Exception as error:
        raise TrialError(
            f"The names that they use cannot be defined ({type(error).__name__}: {error})."
        ) from None


def _merge(found: _VisitResult, other: _VisitResult) -> None:
    found.cases += other.cases
    found.taken |= other.taken
    found.differ(OutcomeDifference(other.difference, other.depends_on_use))
    found.mild = found.mild or other.mild
    found.problem = found.problem or other.problem


def _signature(values: dict[ValuePath, Any]) -> Any:
    """Return a key of a visit: types and shapes, and values of booleans and strings."""
    return (
        torch.is_grad_enabled(),
        *((path, *_kind(value)) for path, value in values.items()),
    )


def _kind(value: Any) -> Iterable[Any]:
    if isinstance(value, torch.Tensor):
        return str(value.dtype), tuple(value.shape), value.requires_grad
    return (value,) if isinstance(value, (bool, str)) else (type(value).__name__,)


def text_of(filename: str, known: SourceText | None) -> str:
    """Return the source text of a file: ``known`` if given, else the text on disk."""
    if known is not None:
        return known.text
    with open(filename, "rb") as stream:
        encoding, _ = tokenize.detect_encoding(stream.readline)
        stream.seek(0)
        return io.TextIOWrapper(stream, encoding).read()


def real_name(filename: str) -> str:
    """Return the canonical name of a file."""
    return os.path.normcase(os.path.realpath(filename))
