"""Preview: the kernels of a program for a GPU that this machine need not have."""

from __future__ import annotations

from typing import Final

from .analysis import Analysis, EditorAnalysis

ANALYSIS: Final = Analysis(
    id="preview",
    label="preview",
    doing="writing kernels of {target} for {device}",
    switch="device",
    in_editor=EditorAnalysis(
        command="fullgraph.kernels",
        client="previewKernels",
        title="Preview Kernels for…",
        question="The Triton kernels for a GPU that this machine need not have",
        group="generated code",
        order=20,
        menu="kernels",
    ),
)
