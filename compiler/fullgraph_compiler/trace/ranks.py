"""Readers of records that should be the same on all ranks.

These are graphs in detail, schedules of collectives, estimates, and the order in which graphs run.
TorchInductor's records come from ``log_collective_schedule``, ``log_runtime_and_tensor_meta`` and
``log_graph_execution`` in ``torch/_inductor/debug.py``, which are the same in torch 2.13 and 2.15. In older
versions, the records do not contain the tensors of kernels.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from ..facts import (
    Collective,
    CollectivesScheduled,
    GraphsExecuted,
    GraphTraced,
    RuntimeEstimated,
    StackFrame,
)
from .decoding import read_json, read_object
from .graphs import parse_operations, parse_typed_inputs
from .record import TraceRecord

_LIST = re.compile(r"\[[^\[\]]*\]")
_LITERAL = re.compile(r"'[^']*'|\b\d+\b")
_DEVICE_NUMBER = re.compile(r"(?<=[a-z]):\d+(?=$|[,)])")
"""The index of a device: of a tensor (``f32[8][1]cuda:0``), or in a ``DTensor(f32[8][1]cuda:0, R)``."""
_OTHERS = frozenset(("", "wait_tensor", "wait_tensors", "isend", "irecv", "batch_p2p_ops"))
"""Operators to skip: waits for collectives, and communication between two ranks."""


def read_traced_graph(record: TraceRecord, frame: StackFrame) -> GraphTraced:
    """Read a graph that Dynamo captured.

    ``frame`` is the location of operations for which torch names no line.
    """
    lines: list[str] = []
    stack: list[StackFrame] = []
    collectives: list[Collective] = []
    for operation in parse_operations(record.payload):
        operator = _operator(operation.call)
        if operator not in _OTHERS:
            arguments = tuple(map(sys.intern, _LITERAL.findall(_LIST.sub("", operation.arguments))))
            collectives.append(Collective(len(lines), operator, arguments))
        if operator or operation.tensor:
            lines.append(_typed(operation.name, operation.tensor))
            stack.append(operation.frame or frame)
    inputs = (_typed(name, tensor) for name, tensor in parse_typed_inputs(record.payload))
    return GraphTraced(record.compile_id, tuple(inputs), tuple(lines), tuple(stack), tuple(collectives))


def read_schedule(record: TraceRecord) -> CollectivesScheduled:
    """Read the collective operations of TorchInductor's code, except waits."""
    operators = (_operator(str(name).removeprefix("torch.ops.")) for name in read_json(record.payload))
    return CollectivesScheduled(record.compile_id, tuple(name for name in operators if name not in _OTHERS))


def read_estimate(record: TraceRecord) -> RuntimeEstimated:
    """Read TorchInductor's estimate of a graph's run time, and the tensors written."""
    kernels = read_object(record.payload)["ops"]
    times = (float(kernel["estimated_runtime_ns"]) for kernel in kernels)
    seconds = sum(filter(math.isfinite, times)) / 1e9
    buffers = (sys.intern(f"{kernel['name']}: {_outputs(kernel.get('outputs', ()))}") for kernel in kernels)
    return RuntimeEstimated(record.compile_id, seconds, tuple(buffers))


def read_execution(record: TraceRecord) -> GraphsExecuted:
    """Read the order in which graphs ran; the id of a graph from a cache is empty."""
    ran = read_object(record.payload)["graph_execution_order"]
    return GraphsExecuted(tuple(sys.intern(str(graph["compile_id"] or "")) for graph in ran))


def _operator(call: str) -> str:
    """Return the operator of a call of a collective operation, such as ``all_reduce``.

    An example of a call is ``_c10d_functional.all_reduce_.default``. In-place variants have the name of the
    operator without the underscore. Return an empty string for any other call.
    """
    return call.partition("c10d_functional.")[2].partition(".")[0].removesuffix("_")


def _typed(name: str, tensor: str) -> str:
    return sys.intern(f"{name}: {_DEVICE_NUMBER.sub('', tensor)}")


def _outputs(outputs: Iterable[Mapping[str, Any]]) -> str:
    """Return the tensors that a kernel writes, as text.

    Outputs without a dtype are not tensors, and are left out.
    """
    return ", ".join(f"{item['dtype']}{item['shape']}{item['stride']}" for item in outputs if item["dtype"])
