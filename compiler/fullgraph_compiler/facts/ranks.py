"""Facts that should be the same on all ranks of a job: graphs in detail, collective operations, their order.

torch writes some of them only if it is asked to: estimates and tensors of TorchInductor's code with
``LOG_TLPARSE=1``, the order of execution within
``torch._inductor.debug.record_and_log_graph_execution_order``.
"""

from __future__ import annotations

from dataclasses import dataclass

from .registry import Fact, Value
from .stacks import Stack


@dataclass(frozen=True, slots=True)
class Collective(Value):
    """A call of a collective operation (``all_reduce``) in a captured graph.

    ``operation`` is its place among the operations of the graph. ``arguments`` are those that are neither
    tensors nor lists, as torch prints them, such as the reduction and, last, the group (``'sum', '0'``).
    """

    operation: int
    operator: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphTraced(Fact):
    """A captured graph in detail: the tensors of its inputs and operations (``h: f32[8, 4][4, 1]cpu``).

    They are written as torch prints them, with strides, but devices have no number: that is another one on
    each rank. ``stack`` has the line of each operation.
    """

    compile_id: str
    inputs: tuple[str, ...]
    operations: tuple[str, ...]
    stack: Stack
    collectives: tuple[Collective, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectivesScheduled(Fact):
    """The collective operations in the code that TorchInductor wrote for one pass of a graph, in order."""

    compile_id: str
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuntimeEstimated(Fact):
    """TorchInductor's estimate of the run time of its code for one pass of a graph, in seconds.

    ``buffers`` are the tensors that its kernels write (``op1: float32[8, 4][4, 1]``).
    """

    compile_id: str
    seconds: float
    buffers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphsExecuted(Fact):
    """The graphs in the order in which they ran, by compile id; empty for one that torch does not name."""

    compile_ids: tuple[str, ...]
