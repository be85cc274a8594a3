"""The debugging backends: their purposes, and the names under which they work with the installed torch.

torch defines its own in ``torch/_dynamo/backends/debugging.py``. Those that cannot be used by name have a
replacement here (:mod:`.debugging`), called ``fullgraph_<name>``.
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
"""The names in the entry point group ``torch_dynamo_backends``, with their locations."""


@dataclass(frozen=True, slots=True)
class Backend:
    """One backend. If a program fails with it, the fault is in ``isolates`` or an earlier stage.

    ``since`` and ``until`` are the first and the last supported torch whose own backend can be used by name:
    ``since`` is ``None`` if there is none, ``until`` if the newest still has it. ``stand_in`` is the name of
    the replacement for other versions.
    """

    name: str
    purpose: str
    isolates: str
    since: Version | None = torch_compat.SUPPORTED[0]
    until: Version | None = None
    stand_in: str = ""

    def usable_name(self) -> str:
        """Return the name for ``torch.compile(backend=...)`` with the installed torch."""
        here = torch_compat.release()
        own = self.since is not None and self.since <= here and (self.until is None or here <= self.until)
        return self.name if own else self.stand_in


BACKENDS = (
    Backend("eager", "runs the captured graph as it is", "Dynamo"),
    Backend(
        "eager_noexcept",
        "runs the captured graph, and reports any exception in it as an error of the compiler",
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
        "aot_eager_decomp_partition, stopping at the operator that produces the first NaN",
        "the decomposed operator that produces a NaN",
        # torch's backend needs a mode as an argument, which a name cannot provide.
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
        # Earlier versions pass a lazy graph module, which TorchScript cannot read.
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
"""All debugging backends, from the first stage of the compiler to the last."""


def find(name: str) -> Backend:
    """Return the backend with this name, torch's or its replacement. Raises ``KeyError`` if there is none."""
    for backend in BACKENDS:
        if name in {backend.name, backend.stand_in or backend.name}:
            return backend
    raise KeyError(f"there is no debugging backend {name!r}; there are {', '.join(b.name for b in BACKENDS)}")


def register() -> None:
    """Register the names with torch; entry points do not exist in a worker, which is loaded by path."""
    for name, place in ENTRY_POINTS.items():
        backend_compat.register_backend(name, place)
