"""Late compilations: compilations after the warm-up."""

from __future__ import annotations

from functools import partial
from typing import Final

from fullgraph_compiler.facts import LateCompilation

from ..report.recompiles import late_compilation_verdict
from .analysis import Analysis, CommandLineAnalysis, EditorAnalysis, SwitchOption
from .progress import ProgressTally

ANALYSIS: Final = Analysis(
    id="late-compile",
    label="late compilations",
    doing="looking for late compilations of {target}",
    effort="program",
    progress=partial(ProgressTally, LateCompilation, lambda count: f"{count} so far" if count else ""),
    verdict=late_compilation_verdict,
    in_editor=EditorAnalysis(
        command="fullgraph.frozen",
        client="findLateCompilations",
        title="Find Compilations After the Warm-up",
        question="Calls that compile when everything should be compiled already",
        group="recompilations and compile time",
        menu="analyses",
        order=20,
        announced=True,
    ),
    on_command_line=CommandLineAnalysis(
        name="frozen",
        answer="What is still compiled after the warm-up? `--warm-up 3` sets its calls.",
        page="docs/recompilations.md",
        help="""Find late compilations: those after the warm-up.

        TARGET (see fullgraph check) runs and compiles unmodified. Each compilation after the first calls
        of a compiled function is shown with its cause, on the line of the call.

        The exit code is 0 if there is no late compilation and nothing fails, else 1, and 2 if the target
        could not be started.
        """,
        options=(
            SwitchOption(
                name="--warm-up",
                switch="warm_up",
                help="How many calls of each compiled function may compile.  [default: 1]",
            ),
        ),
        ranks=True,
    ),
)
