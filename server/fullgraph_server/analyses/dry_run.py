"""Dry run: the ordinary run, with tensors that have no data."""

from __future__ import annotations

from typing import Final

from .analysis import Analysis, EditorAnalysis

ANALYSIS: Final = Analysis(
    id="dry-run",
    label="dry run",
    doing="dry run of {target}",
    switch="dry_run",
    in_editor=EditorAnalysis(
        command="fullgraph.run",
        client="dryRun",
        title="Dry Run",
        question="The ordinary run with tensors that have no data: for models of any size",
        group="graph breaks, guards, recompilations",
        menu="analyses",
        order=10,
    ),
)
