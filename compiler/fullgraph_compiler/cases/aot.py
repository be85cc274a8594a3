"""Lower Dynamo's graph to the forward and backward graphs that TorchInductor gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from ..compat import inductor_compat
from ..processes.children import run_child
from . import repro
from .case import FailureCase
from .oracle import execute, silence
from .places import users_calls
from .reading import GraphReading, UnreadableError, read_graph, read_input, without_gradient


def split(case: FailureCase, seconds: float) -> list[FailureCase]:
    """Return the ``aot`` cases of a ``dynamo`` case, in the order in which they run.

    Empty if an earlier stage fails, or if the lowered graph cannot be written as a case. A dynamic graph
    cannot be written, because its symbolic sizes would become constants.
    """
    if case.dynamic:
        return []

    def work() -> list[FailureCase]:
        silence()
        return _split(case)

    answer: list[FailureCase] | None = run_child(work, seconds).answer
    return answer or []


def _split(case: FailureCase) -> list[FailureCase]:
    cases: list[FailureCase] = []
    text = repro.program(case)

    def keep(graph: torch.fx.GraphModule, _: Sequence[Any], **__: Any) -> Callable[..., Any]:
        try:
            reading = read_graph(graph)
        except UnreadableError:
            reading = None

        def run(arguments: list[Any]) -> Any:
            if reading is not None:
                cases.append(_aot_case(case, text, reading, [*arguments, *reading.constants]))
            values = list(arguments)
            arguments.clear()
            return graph(*values)

        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    namespace = execute(text)
    module, inputs = namespace["Repro"](), namespace["inputs"]()
    compiled = torch.compile(
        module, backend=lambda graph, inputs: inductor_compat.compile_with_inductor(graph, inputs, keep)
    )
    results = compiled(*inputs)
    outputs = [value for value in results if isinstance(value, torch.Tensor) and value.requires_grad]
    if outputs:
        torch.autograd.backward(outputs, [torch.rand_like(output) for output in outputs])
    return cases


def _aot_case(case: FailureCase, text: str, reading: GraphReading, arguments: Sequence[Any]) -> FailureCase:
    names = reading.graph.parameters
    inputs = tuple(read_input(name, value) for name, value in zip(names, arguments, strict=True))
    # The graphs of AOTAutograd compute the gradients themselves.
    graph = replace(
        reading.graph,
        operations=tuple(
            replace(operation, calls=users_calls(case, text, operation.calls))
            for operation in reading.graph.operations
        ),
    )
    return replace(case, level="aot", graph=graph, inputs=tuple(map(without_gradient, inputs)))
