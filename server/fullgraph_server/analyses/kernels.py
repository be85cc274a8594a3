"""Kernels: the code that TorchInductor writes, and the source lines of the code."""

from __future__ import annotations

from typing import Final

from .analysis import Analysis, CommandLineAnalysis, EditorAnalysis

ANALYSIS: Final = Analysis(
    id="kernels",
    label="kernels",
    doing="writing kernels of {target}",
    makes_layer=False,
    reads_traces=True,
    in_editor=EditorAnalysis(
        command="fullgraph.kernels",
        client="openKernels",
        title="Open Generated Kernels",
        question="The Triton or C++ that TorchInductor writes, next to your lines",
        group="generated code",
        order=10,
        menu="kernels",
        in_palette=True,
    ),
    on_command_line=CommandLineAnalysis(
        name="kernels",
        answer="What did each graph become, and from which lines? `-o kernels` writes every form of each "
        "graph, the code, each kernel, and an index.",
        page="docs/kernels.md",
    ),
)
