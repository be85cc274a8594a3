"""Minification: shrink a failure to a short program that needs only torch."""

from __future__ import annotations

from typing import Final

from .analysis import Analysis, CommandLineAnalysis, EditorAnalysis

ANALYSIS: Final = Analysis(
    id="minify",
    label="minified failure",
    doing="shrinking a failure of {target}",
    in_one_process="failures are minified",
    repeats=True,
    verdict=lambda report: report.findings[0].hints[0],
    in_editor=EditorAnalysis(
        command="fullgraph.minify",
        client="minifyFailure",
        title="Minify This Failure",
        question="A short program that fails in the same way",
        group="failures and wrong results",
        order=20,
    ),
    on_command_line=CommandLineAnalysis(
        name="minify",
        answer="What is the failure in a few lines?",
        page="docs/failures.md",
    ),
)
