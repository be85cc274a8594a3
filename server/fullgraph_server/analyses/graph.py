"""The ordinary run: what torch.compile did to a program."""

from __future__ import annotations

from typing import Final

from .analysis import Analysis

ANALYSIS: Final = Analysis(
    id="graph",
    label="ordinary run",
    doing="running {target}",
    makes_layer=False,
    effort="program",
    reads_traces=True,
)
