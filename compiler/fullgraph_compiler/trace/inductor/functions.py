"""The functions of TorchInductor's code, and how often each is called.

``call`` runs the graph. It calls one function for each partition of a graph (``partition_0``), and one
function for each subgraph of a higher-order operator: the branches of ``cond``, condition and body of
``while_loop``, a nested compile region (``codegen_subgraph`` and ``codegen_partition_call`` in
``torch/_inductor/codegen/wrapper.py``: 2.13, 2.15).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_ENTRY: Final = "call"
_PARTITION: Final = "partition_"
_PARTITIONS = re.compile(r"self\.partitions\[(\d+)\]")
_MOST_TIMES: Final = 1_000_000
"""The most calls to count: the number grows exponentially when functions call each other."""


@dataclass(frozen=True, slots=True)
class CodeFunction:
    """A function of generated code that is reached from ``call``.

    ``row`` is the row of its definition. ``times`` is how often the function runs in one call of the graph,
    if each branch and each loop runs once.
    """

    name: str
    row: int
    times: int

    @property
    def is_called(self) -> bool:
        """Whether the function runs a subgraph instead of the graph itself."""
        return self.name != _ENTRY and not self.name.startswith(_PARTITION)


def calls_of(tree: ast.Module) -> list[tuple[CodeFunction, ast.Call]]:
    """Return all calls in the functions reached from ``call``, in order of execution.

    A function that is called several times is read only once, at its first call.
    """
    written = _functions(tree)
    reader = _FunctionReader({name: _calls(function) for name, function in written.items()})
    times = reader.times()
    functions = {
        name: CodeFunction(name, written[name].lineno, times.get(name, 1)) for name in reader.finished
    }
    return [(functions[name], call) for name, call in reader.found]


class _FunctionReader:
    """A depth-first reader of functions, without recursion: nesting may be deep."""

    def __init__(self, calls: Mapping[str, list[tuple[ast.Call, bool]]]) -> None:
        self._calls = calls
        self.found: list[tuple[str, ast.Call]] = []
        self.finished: list[str] = []
        """The functions in the order in which their reading ended: callees come before callers."""
        begun: set[str] = set()
        for root in sorted(filter(_is_root, calls), key=lambda name: name != _ENTRY):
            if root not in begun:
                self._read(root, begun)

    def _read(self, root: str, begun: set[str]) -> None:
        begun.add(root)
        stack = [(root, iter(self._calls[root]))]
        while stack:
            name, calls = stack[-1]
            for call, _ in calls:
                callee = _callee(call)
                if callee not in self._calls:
                    self.found.append((name, call))
                elif callee not in begun:
                    begun.add(callee)
                    stack.append((callee, iter(self._calls[callee])))
                    break
            else:
                self.finished.append(name)
                stack.pop()

    def times(self) -> Mapping[str, int]:
        """Return how often each called function is called in one call of the graph."""
        times: dict[str, int] = {}
        for name in reversed(self.finished):
            always: Counter[str] = Counter()
            for call, is_conditional in self._calls[name]:
                if (callee := _callee(call)) in self._calls:
                    always[callee] += not is_conditional
            for callee, count in always.items():
                added = times.get(name, 1) * max(count, 1)
                times[callee] = min(times.get(callee, 0) + added, _MOST_TIMES)
        return times


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Return the functions of the module, and the methods of its classes, by name."""
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    return {node.name: node for body in bodies for node in body if isinstance(node, ast.FunctionDef)}


def _is_root(name: str) -> bool:
    return name == _ENTRY or name.startswith(_PARTITION)


def _callee(call: ast.Call) -> str:
    """Return the name of the function that a call names; empty if it names none."""
    if isinstance(call.func, ast.Name):
        return call.func.id
    if isinstance(call.func, ast.Subscript) and (found := _PARTITIONS.fullmatch(ast.unparse(call.func))):
        return f"{_PARTITION}{found[1]}"
    return ""


def _calls(function: ast.FunctionDef) -> list[tuple[ast.Call, bool]]:
    """Return the calls in a function in order, and whether each is conditional.

    A conditional call is within a branch or a loop.
    """
    found = _calls_in(function, is_conditional=False)
    return sorted(found, key=lambda call: (call[0].lineno, call[0].col_offset))


def _calls_in(node: ast.AST, *, is_conditional: bool) -> Iterator[tuple[ast.Call, bool]]:
    for child in ast.iter_child_nodes(node):
        inside = is_conditional or isinstance(child, (ast.If, ast.While, ast.For))
        if isinstance(child, ast.Call):
            yield child, inside
        yield from _calls_in(child, is_conditional=inside)
