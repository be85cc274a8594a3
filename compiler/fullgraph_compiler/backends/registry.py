"""The debugging backends: what each is for, and under which name it works with the torch that is here.

torch keeps its own in ``torch/_dynamo/backends/debugging.py``. Those that cannot be used there by name
have a stand-in of ours (:mod:`.debugging`), called ``fullgraph_<name>``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..compat import backend_compat, torch_compat

Version: TypeAlias = tuple[int, int]

ENTRY_POINTS = {
    "fullgraph_ts": "fullgraph_compiler.backends.debugging:ts",
    "fullgraph_aot_ts": "fullgraph_compiler.backends.debugging:aot_ts",
    "fullgraph_aot_eager_decomp_partition_with_mode": (
        "fullgraph_compiler.backends.debugging:aot_eager_decomp_partition_with_mode"
    ),
    "fullgraph_relu_compile_error": "fullgraph_compiler.backends.faults:relu_compile_error",
    "fullgraph_relu_runtime_error": "fullgraph_compiler.backends.faults:relu_runtime_error",
    "fullgraph_relu_accuracy_error": "fullgraph_compiler.backends.faults:relu_accuracy_error",
    "fullgraph_non_leaf_compile_error": "fullgraph_compiler.backends.faults:non_leaf_compile_error",
}
"""Our names in the entry point group ``torch_dynamo_backends``, and where each is."""


@dataclass(frozen=True, slots=True)
class Backend:
    """One backend. A program that fails with it has its fault in ``isolates``, or before that.

    ``since`` and ``until`` are the first and the last torch of the supported ones whose own backend can be
    used by its name: ``since`` is ``None`` where there is none, ``until`` where the newest still has it.
    Where torch's own cannot be used, ``stand_in`` can.
    """

    name: str
    purpose: str
    isolates: str
    since: Version | None = torch_compat.SUPPORTED[0]
    until: Version | None = None
    stand_in: str = ""

    def usable_name(self) -> str:
        """What to write as ``torch.compile(backend=...)`` with this torch."""
        here = torch_compat.release()
        own = self.since is not None and self.since <= here and (self.until is None or here <= self.until)
        return self.name if own else self.stand_in


BACKENDS = (
    Backend("eager", "runs the captured graph as it is", "Dynamo"),
    Backend(
        "eager_noexcept",
        "runs the captured graph, and names any exception of it an error of the compiler",
        "Dynamo: a graph that raises where the program does not",
    ),
    Backend(
        "eager_debug",
        "runs the captured graph, and checks what each operator mutates and aliases",
        "custom operators whose schema is wrong",
    ),
    Backend(
        "pre_dispatch_eager",
        "traces the captured graph once more with make_fx before dispatch, prints it and runs it",
        "make_fx, ahead of autograd",
    ),
    Backend(
        "aot_eager",
        "traces forward and backward with AOTAutograd, and runs both graphs as they are",
        "AOTAutograd",
    ),
    Backend(
        "aot_eager_default_partitioner",
        "aot_eager with the plain partitioner, which recomputes nothing",
        "AOTAutograd; the min-cut partitioner, if this passes and aot_eager fails",
    ),
    Backend(
        "aot_eager_decomp_partition",
        "aot_eager with TorchInductor's decompositions and partitioning",
        "decompositions and the partitioner",
    ),
    Backend(
        "aot_eager_decomp_partition_with_mode",
        "aot_eager_decomp_partition, stopping at the operator that makes the first NaN",
        "the decomposed operator that makes a NaN",
        # torch's takes a mode as an argument, which no name can give.
        since=None,
        stand_in="fullgraph_aot_eager_decomp_partition_with_mode",
    ),
    Backend(
        "aot_eager_decomp_partition_crossref",
        "aot_eager_decomp_partition, comparing each result of a custom operator with its meta kernel",
        "meta kernels of custom operators",
    ),
    Backend(
        "ts",
        "compiles the captured graph with TorchScript",
        "Dynamo, and TorchScript",
        # Before, TorchScript is handed a lazy graph module, which it cannot read.
        since=(2, 15),
        stand_in="fullgraph_ts",
    ),
    Backend(
        "aot_ts",
        "traces with AOTAutograd, and compiles both graphs with TorchScript",
        "AOTAutograd, and TorchScript",
        since=(2, 15),
        stand_in="fullgraph_aot_ts",
    ),
    Backend("inductor", "generates kernels", "TorchInductor, if aot_eager_decomp_partition passes"),
)
"""All of them, from the first stage of the compiler to the last."""


def find(name: str) -> Backend:
    """The backend of this name, torch's or ours. Raises ``KeyError`` for another one."""
    for backend in BACKENDS:
        if name in {backend.name, backend.stand_in or backend.name}:
            return backend
    raise KeyError(f"there is no debugging backend {name!r}; there are {', '.join(b.name for b in BACKENDS)}")


def register() -> None:
    """Make our names known to torch where no installed distribution has: a worker is loaded by path."""
    for name, place in ENTRY_POINTS.items():
        backend_compat.register_backend(name, place)
