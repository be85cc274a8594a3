"""The execution of statements alone, and a comparison of their results."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import types
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any

import torch

from ..compat import torch_compat
from .branches import is_by_statement
from .differences import ROUGH, ROUNDING, DifferenceRules, SnapshotComparison, numbers_differ
from .environment import TrialEnvironment
from .recording import random_states, set_seeds, tensors_in
from .snapshots import Node, ValueSnapshots
from .statements import TrialStatements, code_of, walk

_FORKED = "fork-based multiprocessing"
"""Part of autograd's error message in a process that was forked after autograd had started its threads
(``torch/csrc/autograd/engine.cpp``)."""


_ENDINGS = {
    "through": "goes on",
    "return": "returns",
    "break": "leaves the loop",
    "continue": "continues the loop",
}


_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_USUALLY_IGNORED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
_BY_TORCH = "(Triggered internally at "
_PLAIN = (NoneType, bool, int, float, str)
_NO_VALUE = ("NameError", "UnboundLocalError")


_BARE = re.compile(r"(input )?`\w+`|the returned value")
"""The place of a whole variable, not of a value inside the variable."""
_OF_NAN = "ValueError for NaN"
OF_EXPANDED = "RuntimeError for an expanded tensor"
"""torch's error if elements are written that share memory: an edit may write more elements."""
_OF_NUMBERS = ("ZeroDivisionError", "OverflowError", _OF_NAN)
"""Errors of Python's numbers, where tensors have some value."""


class NeedsOwnProcessError(Exception):
    """Raised if gradients cannot be taken in a forked process."""


@dataclass
class StatementOutcome:
    """The outcome of one execution of statements.

    ``end`` is how control left the statements: ``through``, ``return``, ``break``, ``continue``, or the type
    of an exception. ``by_statement`` says that a ``raise`` or ``assert`` of the program raised the exception;
    ``message`` is then the exception's message. ``told`` has the output and the warnings. ``values`` are
    snapshots of the inputs, then of the names that are assigned and read later, and of the returned value.
    ``gradients`` has the gradient with respect to each leaf tensor.
    """

    end: str
    by_statement: bool = False
    message: str = ""
    told: list[str] = field(default_factory=list)
    values: list[tuple[str, Node]] = field(default_factory=list)
    random: dict[str, str] = field(default_factory=dict)
    gradients: dict[str, torch.Tensor | None] = field(default_factory=dict)

    @property
    def is_error(self) -> bool:
        """Whether an exception ended the statements."""
        return self.end not in ("through", "return", "break", "continue")


@dataclass(frozen=True)
class OutcomeDifference:
    """The difference between the outcomes of old and new statements, as text; or none.

    ``depends_on_use`` says that the difference matters only for some later uses of a variable: only the form
    or the gradient of the variable differs, or the variable has no value. ``is_mild`` says that the
    difference leaves all numbers equal (see ``SnapshotDifference``), or that the program does not use the
    precision of the numbers.
    """

    words: str = ""
    depends_on_use: bool = False
    is_mild: bool = False

    def __bool__(self) -> bool:
        return bool(self.words)


class StatementRunner:
    """A runner of statements on copies of an environment.

    During a run, copies replace the global data in ``namespace``.
    """

    def __init__(
        self, statements: TrialStatements, namespace: dict[str, Any], cls: object, *, caught: bool = False
    ) -> None:
        self._errors_differ = statements.errors_differ and not caught
        self._caught = caught
        self._statements = statements
        self._namespace = namespace
        self._cls = cls
        self._codes: dict[int, tuple[types.CodeType, list[ast.stmt]]] = {}
        self._rules = DifferenceRules(
            ROUNDING, requires_grad=False, strides=True, lost_memory=self._lost_memory
        )

    def run(
        self,
        nodes: list[ast.stmt],
        given: TrialEnvironment,
        seed: int,
        *,
        gradients: bool,
        branches: Any = None,
    ) -> StatementOutcome:
        """Run statements on a copy of ``given``; with ``gradients``, enable autograd."""
        with contextlib.ExitStack() as settings:
            if gradients:
                settings.enter_context(torch.inference_mode(False))
                settings.enter_context(torch.enable_grad())
            return self._run(nodes, given, seed, gradients=gradients, branches=branches)

    def _run(
        self, nodes: list[ast.stmt], given: TrialEnvironment, seed: int, *, gradients: bool, branches: Any
    ) -> StatementOutcome:
        environment = given.copy(gradients=gradients)
        last: dict[str, Any] = {}
        left: list[str] = []
        through = object()
        own = {"keep": last.update, "left": left, "through": through, "branches": branches, "cond": _cond}
        if id(nodes) not in self._codes:
            self._codes[id(nodes)] = code_of(nodes, self._statements, list(environment.local), own), nodes
        make = types.FunctionType(self._codes[id(nodes)][0], self._namespace)
        function = make(self._cls, *own.values())
        arguments = {
            name: value
            for name, value in environment.local.items()
            if name not in self._statements.global_names
        }
        raised = [node.lineno for node in walk(nodes) if isinstance(node, (ast.Raise, ast.Assert))]
        result: Any = through
        end, by_statement = "", False
        told: list[str] = []
        message = ""
        with self._quietly(environment.shared, told) as after:
            set_seeds(seed)
            try:
                result = function(**arguments)
            except BaseException as error:
                end, by_statement = _kind(error), is_by_statement(error, raised)
                message = _ADDRESS.sub("0x", str(error)) if by_statement else ""
            random = random_states()
            shared = after()
        if not end:
            end = left[-1] if left else "through" if result is through else "return"
            if end == "continue" and self._statements.ends_turn:
                end = "through"
        outcome = StatementOutcome(end, by_statement, message, told, random=random)
        after_run = self._values(environment, shared, last, outcome, None if result is through else result)
        outcome.values = _snapshots_of(after_run)
        if gradients and not outcome.is_error:
            outcome.gradients = _gradients(after_run, environment.leaves)
        return outcome

    def difference(
        self, old: StatementOutcome, new: StatementOutcome, *, is_rough: bool = False
    ) -> OutcomeDifference:
        """Return how ``new`` differs from ``old``.

        Gradients are not compared if the difference depends on use, since a number has no gradient. With
        ``is_rough``, which is for a precision that the program does not use, rounding is not a difference.
        """
        rules = replace(self._rules, tolerances=ROUGH) if is_rough else self._rules
        if self._errors_differ and old.is_error and new.end in ("RuntimeError", old.end):
            return OutcomeDifference()
        if old.end in _OF_NUMBERS and not new.is_error and not self._caught:
            return OutcomeDifference(f"{_ending(new)}, before {_ending(old)}", is_mild=True)
        if new.end == OF_EXPANDED and not old.is_error and not self._caught:
            return OutcomeDifference(f"{_ending(new)}, before {_ending(old)}", is_mild=True)
        if old.end != new.end:
            return OutcomeDifference(f"{_ending(new)}, before {_ending(old)}", new.end in _NO_VALUE)
        if old.by_statement and new.by_statement and old.message != new.message:
            return OutcomeDifference(f"raises {new.end} with another message")
        if self._statements.prints and old.told != new.told:
            return OutcomeDifference("prints or warns differently")
        depends = mild = ""
        between = SnapshotComparison(rules)
        after = dict(new.values)
        for place, node in old.values:
            other = after.get(place, _UNBOUND)
            for found in between.between(place, node, other):
                words = f"{found.place}: {found.words}"
                if place.startswith("`") and (found.of_form or other == _UNBOUND):
                    depends = depends or words
                elif found.mild:
                    mild = mild or words
                else:
                    return OutcomeDifference(words)
        for source, digest in old.random.items() if not self._statements.runs_skipped else ():
            if new.random.get(source, digest) != digest:
                return OutcomeDifference(f"random numbers of {source}: draws more or fewer of them")
        for place, gradient in old.gradients.items() if not depends else ():
            other_gradient = new.gradients.get(place)
            if (
                self._statements.runs_skipped
                and other_gradient is not None
                and not other_gradient.isfinite().all()
            ):
                continue
            words = _gradient_difference(gradient, other_gradient, rules.tolerances)
            if words:
                # Later statements may detach the values: then only the function's results tell.
                depends_on_use = old.end == "through" and not self._statements.are_kept
                return OutcomeDifference(f"gradient of {place}: {words}", depends_on_use)
        return OutcomeDifference(depends or mild, bool(depends), is_mild=bool(mild and not depends))

    def _values(
        self,
        environment: TrialEnvironment,
        shared: dict[str, Any],
        last: dict[str, Any],
        outcome: StatementOutcome,
        result: Any,
    ) -> list[tuple[str, Any]]:
        """Return the values after a run, inputs first.

        In this order, a comparison finds memory that later values share with inputs.
        """
        owned = self._statements.owned
        values = [(f"`{name}`", value) for name, value in environment.local.items() if name != owned]
        values = [(f"input {place}", value) for place, value in values if not isinstance(value, _PLAIN)]
        values += [(f"global `{name}`", value) for name, value in shared.items()]
        values += [
            (f"{place}.grad", tensor.grad)
            for given, value in tuple(values)
            for place, tensor in tensors_in(given, value)
            if tensor.is_leaf and tensor.requires_grad
        ]
        if outcome.end in ("through", "break", "continue"):
            names = sorted(self._statements.assigned & self._statements.live)
            own_globals = (
                self._statements.global_names
            )  # a local may have the name of a variable of the module
            values += [
                (f"`{name}`", last.get(name, _UnboundValue)) for name in names if name not in own_globals
            ]
        if outcome.end == "return":
            values.append(("the returned value", result))
        return values

    def _lost_memory(self, place: str, first: str) -> tuple[str, bool]:
        names = {part for text in (place, first) for part in text.split("`")[1:2]}
        changed = sorted(names & self._statements.changed_later)
        if changed:
            return f"no longer in the memory of {first}, and `{changed[0]}` is changed in place later", False
        if _BARE.fullmatch(place) and (_BARE.fullmatch(first) or self._is_forgotten(first)):
            return "", True
        return f"no longer in the memory of {first}", True

    def _is_forgotten(self, place: str) -> bool:
        """Return whether a place belongs to an assigned variable that nothing reads later."""
        name = place.split("`")[1]
        return name in self._statements.assigned and name not in self._statements.live

    @contextlib.contextmanager
    def _quietly(self, shared: dict[str, Any], told: list[str]) -> Iterator[Callable[[], dict[str, Any]]]:
        """Replace globals by copies in a context; add output and warnings to ``told``.

        The context's value is a function that returns the globals at the time of its call.
        """
        printed = io.StringIO()
        missing = object()
        names = (*shared, *self._statements.global_names)
        saved = {name: self._namespace.get(name, missing) for name in names}
        self._namespace.update(shared)
        try:
            with (
                contextlib.redirect_stdout(printed),
                contextlib.redirect_stderr(printed),
                warnings.catch_warnings(record=True) as warned,
            ):
                warnings.simplefilter("always")
                yield lambda: {name: self._namespace.get(name, _UnboundValue) for name in saved}
        finally:
            told += [_ADDRESS.sub("0x", printed.getvalue()), *filter(None, map(_warning, warned))]
            for name, value in saved.items():
                if value is missing:
                    self._namespace.pop(name, None)
                else:
                    self._namespace[name] = value


def _cond(predicate: Any, true: Any, false: Any, operands: Any = ()) -> Any:
    """Compute ``torch.cond`` in plain Python.

    In torch 2.13, gradients of ``torch.cond`` need Dynamo even in uncompiled code.
    """
    return (true if predicate else false)(*operands)


class _UnboundValue:
    """A marker for a variable without a value."""


_UNBOUND: Node = ("opaque", _UnboundValue.__qualname__)


def _snapshots_of(values: list[tuple[str, Any]]) -> list[tuple[str, Node]]:
    """Return the snapshots of values."""
    snapshots = ValueSnapshots()
    return [
        (place, _UNBOUND if value is _UnboundValue else snapshots.take(place, value))
        for place, value in values
    ]


def _gradients(
    values: list[tuple[str, Any]], leaves: dict[str, torch.Tensor]
) -> dict[str, torch.Tensor | None]:
    """Return the gradients of a weighted sum of all outputs, by the name of the leaf.

    The weights depend only on the names and shapes of the outputs.
    """
    outputs = [
        (name, tensor)
        for place, value in values
        for name, tensor in tensors_in(place, value)
        if tensor.requires_grad
    ]
    if not outputs or not leaves:
        return dict.fromkeys(leaves)
    weights = []
    for name, tensor in outputs:
        generator = torch.Generator(device="cpu").manual_seed(zlib.crc32(name.encode()))
        # Multiples of 1/16 are exact in all floating point types.
        weight = torch.randint(8, 25, tensor.shape, generator=generator) / 16
        weights.append(weight.to(tensor.device, tensor.dtype))
    try:
        found = torch.autograd.grad(
            [tensor for _, tensor in outputs], [*leaves.values()], weights, allow_unused=True
        )
    except RuntimeError as error:
        if _FORKED in str(error):
            raise NeedsOwnProcessError from error
        raise
    return {
        name: None if gradient is None else gradient.detach().cpu()
        for name, gradient in zip(leaves, found, strict=True)
    }


def _gradient_difference(
    old: torch.Tensor | None, new: torch.Tensor | None, tolerances: tuple[float, float, float]
) -> str:
    """Describe how gradients differ; a missing gradient equals zeros."""
    if old is None and new is None:
        return ""
    before = torch.zeros_like(new) if old is None and new is not None else old
    after = torch.zeros_like(old) if new is None and old is not None else new
    assert before is not None
    assert after is not None
    return numbers_differ(before.to_dense(), after.to_dense(), tolerances)


def _warning(warned: warnings.WarningMessage) -> str:
    """Return the text of a program's warning; empty for a warning of torch.

    torch warns about single operations, which an edit may replace.
    """
    text = f"{warned.category.__name__}: {warned.message}"
    is_of_torch = warned.filename.startswith(torch_compat.folder()) or _BY_TORCH in text
    return "" if is_of_torch or issubclass(warned.category, _USUALLY_IGNORED) else text


def _ending(outcome: StatementOutcome) -> str:
    return _ENDINGS.get(outcome.end, f"raises {outcome.end}")


def _kind(error: BaseException) -> str:
    """Return the name of an error's class; two errors have names of their own."""
    if isinstance(error, ValueError) and str(error) == "cannot convert float NaN to integer":
        return _OF_NAN
    if isinstance(error, RuntimeError) and "refers to a single memory location" in str(error):
        return OF_EXPANDED
    return type(error).__qualname__
