"""Operations in graphs for which TorchInductor draws its own random numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..cases import repro
from ..cases.case import CaseGraph, CaseOperation, FailureCase
from ..facts import Drawn

_DRAWS: Final = re.compile(r"(?:rand|randn|randint)(?:_like)?|(?:bernoulli|normal|uniform|exponential)_?")
"""A pattern for the functions for which TorchInductor draws its own random numbers."""
_DROPOUT: Final = "torch.nn.functional.dropout"


def drawn_in(cases: Iterable[FailureCase]) -> tuple[Drawn, ...]:
    """Return the operations that certainly draw random numbers, once per line."""
    found: dict[tuple[str, str, int], Drawn] = {}
    for operation in (item for case in cases for item in _operations(case.graph) if _draws(item)):
        frame = repro.user_frame(operation)
        if frame is not None:
            drawn = Drawn(operation.target, operation.calls)
            found.setdefault((operation.target, frame.filename, frame.row), drawn)
    return tuple(found.values())


def _operations(graph: CaseGraph) -> Iterator[CaseOperation]:
    yield from graph.operations
    for _, subgraph in graph.subgraphs:
        yield from _operations(subgraph)


def _draws(operation: CaseOperation) -> bool:
    if operation.target == _DROPOUT:
        share, training = (_argument(operation, *place) for place in ((1, "p"), (2, "training")))
        return training is True and isinstance(share, float) and 0 < share < 1
    name = operation.target.removesuffix(".default").rpartition(".")[2]
    return operation.kind in ("call_function", "call_method") and _DRAWS.fullmatch(name) is not None


def _argument(operation: CaseOperation, index: int, name: str) -> Any:
    return operation.args[index] if len(operation.args) > index else dict(operation.kwargs).get(name)
