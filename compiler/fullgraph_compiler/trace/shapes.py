"""Symbolic sizes of a trace: the symbols, the guards on them, and specializations.

The records are emitted by ``torch/fx/experimental/symbolic_shapes.py`` (``create_symbol``, ``_log_guard``,
``_set_replacement``), with the stacks of the user's code and of torch (torch 2.11 to 2.15).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..facts import ShapeGuard, Specialization, Stack, StackFrame, Symbol
from .record import TraceRecord

_SYMBOL: Final = "create_symbol"
_GUARD: Final = "guard_added_fast"
_SPECIALIZATION: Final = "symbolic_shape_specialization"
SHAPE_RECORDS: Final = frozenset((_SYMBOL, _GUARD, _SPECIALIZATION))

_NAME = re.compile(r"[^\W\d]\w*")
_MACHINERY = re.compile(
    r"[/\\]fullgraph_compiler[/\\]|[/\\]torch[/\\](?:__init__|_compile|_jit_internal|utils[/\\](?:_stats|_traceback|_contextlib)"
    r"|_logging[/\\]\w+|fx[/\\]experimental[/\\](?:symbolic_shapes|sym_node|recording)"
    r"|_subclasses[/\\](?:fake_tensor|fake_impls|_fake_tensor_utils)|_dynamo[/\\]eval_frame"
    r"|_inductor[/\\]sizevars)\.py$|[/\\](?:functools|contextlib)\.py$|^<"
)
"""Files that are on the stack of every guard, as in torch's ``uninteresting_files``."""
_MOST_CALLS = 4


class ShapeReader:
    """A collector of one compilation's symbolic sizes; only the last attempt counts.

    ``structured`` converts the list of frames in a record to a stack.
    """

    def __init__(self, structured: Callable[[Any], Stack]) -> None:
        self._structured = structured
        self._attempt = 0
        self._symbols: dict[str, Symbol] = {}
        self._facts: dict[tuple[str, str], ShapeGuard | Specialization] = {}

    def feed(self, record: TraceRecord) -> None:
        """Read a record."""
        if record.attempt != self._attempt:
            self._attempt = record.attempt
            self._symbols.clear()
            self._facts.clear()
        body = record.body
        if record.name == _SYMBOL:
            self._symbols[body["symbol"]] = Symbol(
                body["symbol"], body.get("source") or "", _size(body["val"])
            )
            return
        stack = record.seen.get("stack") or self._structured(body.get("user_stack"))
        calls = _own_calls(self._structured(body.get("stack")))
        if record.name == _GUARD:
            expression = str(body["expr"])
            symbols = self.symbols(expression)
            cpp = record.seen.get("cpp_stack", "")
            guard = ShapeGuard(record.compile_id, expression, symbols, stack, calls, cpp)
            self._facts.setdefault((record.name, expression), guard)
        else:
            symbol, value, sources = body["symbol"], str(body["value"]), tuple(body["sources"])
            fact = Specialization(record.compile_id, symbol, sources, value, body["reason"], stack, calls)
            self._facts.setdefault((record.name, symbol), fact)

    def symbols(self, expression: str) -> tuple[Symbol, ...]:
        """Return the symbols that occur in an expression."""
        names = dict.fromkeys(_NAME.findall(expression))
        return tuple(self._symbols[name] for name in names if name in self._symbols)

    def take(self) -> Iterator[ShapeGuard | Specialization]:
        """Yield the facts that were fed since the last call."""
        facts, self._facts = self._facts, {}
        yield from facts.values()


def _size(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdigit() else None


def _own_calls(stack: Stack) -> Stack:
    """Return the innermost calls of torch that are specific to one guard."""
    calls: list[StackFrame] = [frame for frame in stack if not _MACHINERY.search(frame.filename)]
    return tuple(calls[-_MOST_CALLS:])
