"""The names by which programs can select the backends of this package.

The backends are registered like torch's own.
"""

from __future__ import annotations

from ..compat import backend_compat

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


def register() -> None:
    """Register the names with torch.

    This is necessary in a worker, which loads this package by its path, so that no entry points are
    installed.
    """
    for name, place in ENTRY_POINTS.items():
        backend_compat.register_backend(name, place)
