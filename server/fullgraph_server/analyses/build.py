"""Assembly: the PTX, SASS, LLVM IR or assembly of built kernels."""

from __future__ import annotations

from typing import Final

from .analysis import Analysis, EditorAnalysis

ANALYSIS: Final = Analysis(
    id="build",
    label="built kernels",
    doing="building kernels of {target}",
    makes_layer=False,
    reads_traces=True,
    in_editor=EditorAnalysis(
        command="fullgraph.assembly",
        client="openAssembly",
        title="Open Compiled Kernels (Assembly)",
        question="The PTX, SASS, LLVM IR or assembly of the built kernels",
        group="generated code",
        order=30,
        menu="kernels",
    ),
)
