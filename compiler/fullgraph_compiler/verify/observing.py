"""Observed calls at places of a program: arguments, results and side effects.

Each call is also observed with other sizes.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import io
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from ..facts import (
    CallPlace,
    CallSeen,
    CallsRequest,
    CallsSeen,
    Fact,
    ProgramRaised,
    RunFinished,
    SourceText,
    TargetProblem,
    TensorSeen,
    ValueKind,
    ValueSeen,
)
from ..observe.live import Sink
from ..processes.children import run_child
from .environment import shared_data
from .recording import random_states, same_draws, set_seeds, tensors_in
from .trials import real_name, run_uncompiled, text_of
from .variations import CallArguments, copied, requiring_gradients, variations

_PROBE = "__fullgraph_call__"
_MOST_SEEN = 6
_MOST_CHECKED = 3


def observe_calls(request: CallsRequest, sink: Sink) -> None:
    """Run a request's program uncompiled, and report ``CallsSeen`` for each place."""
    session = _ObservingSession(request)
    texts = session.instrumented()
    setattr(builtins, _PROBE, session.call)

    def take(facts: list[Fact]) -> None:
        last = [fact for fact in facts if isinstance(fact, RunFinished)]
        sink([fact for fact in facts if isinstance(fact, (ProgramRaised, TargetProblem))])
        if last:
            sink([*session.outcomes(), *last])

    run_uncompiled(request, texts, take)


@dataclass
class _PlaceRecord:
    """The calls seen at one place."""

    place: CallPlace
    fixed: frozenset[int] = frozenset()
    """The indices of arguments that are constants in the source."""
    signatures: list[Any] = field(default_factory=list)
    seen: CallsSeen = field(default_factory=lambda: CallsSeen(0))


class _ObservingSession:
    def __init__(self, request: CallsRequest) -> None:
        self._request = request
        self._states = {
            place.number: _PlaceRecord(place, seen=CallsSeen(place.number)) for place in request.places
        }
        self._busy = False

    def instrumented(self) -> tuple[SourceText, ...]:
        """Return the run's source texts, with calls at the places sent to :meth:`call`."""
        texts = {real_name(item.filename): item for item in self._request.texts}
        for filename in dict.fromkeys(real_name(place.filename) for place in self._request.places):
            states = [item for item in self._states.values() if real_name(item.place.filename) == filename]
            text = text_of(filename, texts.get(filename))
            probes = _ProbeTransformer(text, states)
            tree = ast.fix_missing_locations(probes.visit(ast.parse(text)))
            texts[filename] = SourceText(filename, ast.unparse(tree) + "\n")
        return tuple(texts.values())

    def call(self, number: int, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Observe a function on copies of its arguments, then call it normally."""
        state = self._states[number]
        if not self._busy and not state.seen.problem and len(state.signatures) < _MOST_SEEN:
            self._busy = True
            with same_draws():
                try:
                    self._observe(state, function, CallArguments(args, kwargs))
                finally:
                    self._busy = False
        return function(*args, **kwargs)

    def outcomes(self) -> Iterator[CallsSeen]:
        """Yield the calls seen at each place."""
        return (state.seen for state in self._states.values())

    def _observe(self, state: _PlaceRecord, function: Any, given: CallArguments) -> None:
        signature = (torch.is_grad_enabled(), *(value_seen(item) for item in given.values()))
        if signature in state.signatures:
            return
        state.signatures.append(signature)
        if isinstance(function, torch.library.CustomOpDef):
            if not state.seen.failure and state.seen.checked < _MOST_CHECKED:
                failure = _failed_check(function, given, state.place.gradients and torch.is_grad_enabled())
                state.seen = replace(state.seen, checked=state.seen.checked + 1, failure=failure)
            return
        looks = _CopiedCall(function, given, state.fixed)
        seen = self._apart(looks.as_given)
        if isinstance(seen, str):
            state.seen = replace(state.seen, problem=seen)
            return
        others = self._apart(looks.varied)
        state.seen = replace(
            state.seen,
            calls=(*state.seen.calls, *seen, *(others if not isinstance(others, str) else ())),
            is_python=inspect.isfunction(inspect.unwrap(function)),
        )

    def _apart(self, look: Callable[[], tuple[CallSeen, ...] | str]) -> tuple[CallSeen, ...] | str:
        """Call ``look`` in a child process; return its result, or a failure as text.

        Side effects and crashes at unsuitable sizes stay in the child process.
        """
        if sys.platform != "linux" or torch.cuda.is_initialized():
            return look()

        def in_child() -> tuple[CallSeen, ...] | str:
            torch.set_num_threads(1)
            return look()

        ended = run_child(in_child, self._request.patience / 4)
        if ended.answered:
            return ended.answer  # type: ignore[no-any-return]
        return "takes too long" if ended.out_of_time else f"ends the process with exit code {ended.code}"


@dataclass(frozen=True)
class _CopiedCall:
    """A function and its arguments; calls get copies of the arguments."""

    function: Any
    given: CallArguments
    fixed: frozenset[int]

    def as_given(self) -> tuple[CallSeen, ...] | str:
        """Return the observed call with the program's own arguments.

        If the function cannot be an operator, return the reason.
        """
        try:
            first, second = self._called(self.given), self._called(self.given)
        except Exception as error:
            return f"raises {type(error).__name__}"
        if second.state_changed:  # a cache changes only the first time
            return "changes a variable of its module, but an operator may run more or less often"
        if first.lists_changed:
            return "changes a list that it gets"
        if not _same(first.result, second.result):
            return "returns another result each time"
        return (first.seen,)

    def varied(self) -> tuple[CallSeen, ...]:
        """Return observed calls with other sizes, numbers and values.

        Calls that raise are left out.
        """
        made = list(variations(self.given, self.fixed))
        if torch.is_grad_enabled():
            made.append(requiring_gradients(self.given))
        seen = []
        for given in made:
            with contextlib.suppress(Exception):
                seen.append(replace(self._called(given).seen, made=True))
        return tuple(seen)

    def _called(self, given: CallArguments) -> _CallResult:
        own, kept = copied(given), copied(given)
        versions = [tensor._version for tensor in _tensors(own)]
        set_seeds(0)
        before, state = random_states(), _state(self.function)
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            result = self.function(*own.args, **own.kwargs)
        is_array = _is_array(result)
        result = torch.from_numpy(result) if is_array else result
        draws, state_changed = random_states() != before, _state(self.function) != state
        changed = [
            tensor._version != version or not _equal(tensor, old)
            for tensor, version, old in zip(_tensors(own), versions, _tensors(kept), strict=True)
        ]
        marks = iter(changed)
        arguments = tuple(_marked(value_seen(item), marks) for item in kept.values())
        lists_changed = any(
            isinstance(item, list) and len(item) != len(old)
            for item, old in zip(own.values(), kept.values(), strict=True)
        )
        aliases = _aliases(_tensors(own), [tensor for _, tensor in tensors_in("", result)])
        found = value_seen(result)
        found = replace(
            found,
            kind="array" if is_array else found.kind,
            tensors=tuple(
                replace(tensor, aliases=mark) for tensor, mark in zip(found.tensors, aliases, strict=False)
            ),
        )
        return _CallResult(CallSeen(arguments, found, draws=draws), result, lists_changed, state_changed)


@dataclass(frozen=True)
class _CallResult:
    seen: CallSeen
    result: Any
    lists_changed: bool
    state_changed: bool


def _state(function: Any) -> str:
    """Return the small global values of a function's Python module, as text."""
    namespace = getattr(inspect.unwrap(function), "__globals__", {})
    return repr(shared_data(namespace, (), ()))


def value_seen(value: Any) -> ValueSeen:
    """Describe an argument or a result."""
    if value is None:
        return ValueSeen("none")
    if type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout is torch.strided:
        return ValueSeen("tensor", (_tensor_seen(value),))
    if type(value) is int:
        return ValueSeen("int", numbers=(value,))
    if type(value) in _SCALARS:
        return ValueSeen(_SCALARS[type(value)])
    if type(value) in (list, tuple, torch.Size) and value:
        parts = [value_seen(item) for item in value]
        kinds = {part.kind for part in parts}
        several = _SEVERAL.get(parts[0].kind) if len(kinds) == 1 else None
        if several is not None:
            tensors = tuple(tensor for part in parts for tensor in part.tensors)
            numbers = tuple(number for part in parts for number in part.numbers)
            return ValueSeen(several, tensors, numbers, type(value) is not list)
    return ValueSeen("other", text=type(value).__name__)


_SCALARS: dict[type, ValueKind] = {
    float: "float",
    bool: "bool",
    str: "str",
    torch.dtype: "dtype",
    torch.device: "device",
}
_SEVERAL: dict[ValueKind, ValueKind] = {
    "tensor": "tensors",
    "int": "ints",
    "float": "floats",
    "bool": "bools",
}


def _is_array(value: Any) -> bool:
    return "numpy" in sys.modules and type(value) is sys.modules["numpy"].ndarray


def _tensor_seen(tensor: torch.Tensor) -> TensorSeen:
    dtype = str(tensor.dtype).removeprefix("torch.")
    shape = tuple(int(size) for size in tensor.shape)
    return TensorSeen(dtype, shape, tensor.device.type, tensor.is_contiguous(), tensor.requires_grad)


def _marked(value: ValueSeen, marks: Iterator[bool]) -> ValueSeen:
    return replace(value, tensors=tuple(replace(tensor, changed=next(marks)) for tensor in value.tensors))


def _tensors(given: CallArguments) -> list[torch.Tensor]:
    """Return the tensors that :func:`value_seen` describes, in the same order."""
    return [
        tensor
        for value in given.values()
        if value_seen(value).tensors
        for tensor in ([value] if isinstance(value, torch.Tensor) else value)
    ]


def _aliases(inputs: Sequence[torch.Tensor], results: Sequence[torch.Tensor]) -> list[bool]:
    """Return whether each result shares memory with an input or an earlier result."""
    known = list(inputs)
    found = []
    for result in results:
        found.append(any(result is item or _overlap(result, item) for item in known))
        known.append(result)
    return found


def _overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    first, second = one.untyped_storage(), other.untyped_storage()
    begin, other_begin = int(first.data_ptr()), int(second.data_ptr())
    return begin < other_begin + int(second.nbytes()) and other_begin < begin + int(first.nbytes())


def _same(one: Any, other: Any) -> bool:
    """Return whether the tensors of two results are equal."""
    first, second = ([tensor for _, tensor in tensors_in("", value)] for value in (one, other))
    return len(first) == len(second) and all(map(_equal, first, second))


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    with torch.no_grad():
        return bool(((one == other) | ((one != one) & (other != other))).all())


def _failed_check(operator: Any, given: CallArguments, gradients: bool) -> str:
    """Return the first failing test of ``torch.library.opcheck`` and its reason.

    Return an empty string if no test fails.
    """
    own = requiring_gradients(given) if gradients else copied(given)
    tests = _CHECKS_OF_DRAWS if torch.Tag.nondeterministic_seeded in operator._opoverload.tags else _CHECKS
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = torch.library.opcheck(operator, own.args, own.kwargs, test_utils=tests, raise_exception=False)
    for test, outcome in found.items():
        if isinstance(outcome, BaseException):
            reason = str(outcome.__cause__ or outcome).strip() or type(outcome).__name__
            return f"{test}: {reason.splitlines()[0]}"
    return ""


_CHECKS_OF_DRAWS = ("test_schema", "test_autograd_registration", "test_faketensor")
"""The checks for an operator that draws random numbers: other checks compare two calls, whose draws
differ."""
_CHECKS = (*_CHECKS_OF_DRAWS, "test_aot_dispatch_dynamic")


class _ProbeTransformer(ast.NodeTransformer):
    """A transformer that replaces the calls at the places by probes."""

    def __init__(self, text: str, states: Sequence[_PlaceRecord]) -> None:
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._states = {
            (item.row, item.column, item.end_row, item.end_column): state
            for state in states
            for item in (state.place,)
        }

    def visit_Call(self, node: ast.Call) -> ast.AST:
        begin = node.lineno, self._column(node.lineno, node.col_offset)
        end_row = node.end_lineno or node.lineno
        state = self._states.get((*begin, end_row, self._column(end_row, node.end_col_offset or 0)))
        self.generic_visit(node)
        if state is None:
            return node
        values = [*node.args, *(word.value for word in node.keywords)]
        state.fixed = frozenset(index for index, item in enumerate(values) if isinstance(item, ast.Constant))
        number = ast.Constant(state.place.number)
        return ast.copy_location(
            ast.Call(ast.Name(_PROBE, ast.Load()), [number, node.func, *node.args], node.keywords), node
        )

    def _column(self, row: int, offset: int) -> int:
        before = self._lines[row - 1].encode("utf-8", "surrogatepass")[:offset]
        return len(before.decode("utf-8", "ignore")) + 1
