"""Facts that should be equal on all ranks of a job.

They are graphs in detail, collective operations, and the order of both. torch records some of them only on
request: estimates and tensors of TorchInductor's code with ``LOG_TLPARSE=1``, the order of execution within
``torch._inductor.debug.record_and_log_graph_execution_order``.
"""

from __future__ import annotations

from dataclasses import dataclass

from .registry import Fact, Value
from .stacks import Stack


@dataclass(frozen=True, slots=True)
class Collective(Value):
    """A call of a collective operation (``all_reduce``) in a captured graph.

    ``operation`` is the index of the call among the operations of the graph. ``arguments`` are the arguments
    that are neither tensors nor lists, as torch prints them: for example the reduction and, last, the group
    (``'sum', '0'``).
    """

    operation: int
    operator: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphTraced(Fact):
    """A captured graph in detail, with the tensors of its inputs and operations.

    The tensors (``h: f32[8, 4][4, 1]cpu``) have torch's notation, with strides, but without the device's
    index, which differs between ranks. ``stack`` has the user's line of each operation.
    """

    compile_id: str
    inputs: tuple[str, ...]
    operations: tuple[str, ...]
    stack: Stack
    collectives: tuple[Collective, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectivesScheduled(Fact):
    """The collective operations in TorchInductor's code for one pass of a graph.

    ``operations`` are in the order of the code.
    """

    compile_id: str
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuntimeEstimated(Fact):
    """TorchInductor's estimate of the run time of one pass of a graph, in seconds.

    ``buffers`` are the tensors that the kernels of the pass write (``op1: float32[8, 4][4, 1]``).
    """

    compile_id: str
    seconds: float
    buffers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphsExecuted(Fact):
    """The compile ids of graphs in the order of execution.

    The id is empty for a graph that torch does not name.
    """

    compile_ids: tuple[str, ...]
