"""An analysis as data: its texts, its limits, and its views."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..report.model import Finding, Layer, Report
from ..shapes.report import REPORT
from ..shapes.shape import JsonShape
from .progress import AnalysisProgress
from .shown import ReportView, StyledLine

Group: TypeAlias = Literal[
    "graph breaks, guards, recompilations",
    "speed",
    "generated code",
    "recompilations and compile time",
    "failures and wrong results",
]
"""The headings of "Analyze…", in their order."""

Effort: TypeAlias = Literal["program", "dynamo", "compiler"]
"""How long a run may take:

- ``program``: as long as the program itself, without kernels
- ``dynamo``: one graph may take the whole time limit, without kernels
- ``compiler``: several times as long as the program, with kernels that later runs reuse
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorAnalysis:
    """The commands and texts of an analysis in editors.

    ``command`` is the command of the language server, ``client`` the command of VS Code, ``title`` its title,
    and ``question`` its description in "Analyze…". ``order`` sorts the analyses within a ``group``.
    """

    command: str
    client: str
    title: str
    question: str
    group: Group
    order: int = 50
    opens: Literal["", "profile", "report"] = ""
    """The page that VS Code opens afterwards: a profile in Markdown, or the compile report."""
    announced: bool = False
    """Whether the server shows the verdict as a message after the run."""
    menu: Literal["", "analyses", "kernels"] = ""
    """The submenu of a target that also contains the command; VS Code shows at most seven entries in it."""
    in_palette: bool = False
    """Whether the command palette has the command, in addition to "Analyze…"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchOption:
    """A command-line option that sets a switch of the run to a number of at least 1."""

    name: str
    switch: str
    help: str
    metavar: str = "N"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLineAnalysis:
    """The command ``fullgraph NAME TARGET`` of an analysis.

    ``help`` is the text of its ``--help``, and empty for a command that does more than run the analysis: such
    a command is in ``cli/app.py``. ``answer`` is the question that the command answers, for the docs.
    """

    name: str
    answer: str
    page: str = ""
    """The page of the docs, as a link target from the root of the repository."""
    help: str = ""
    options: tuple[SwitchOption, ...] = ()
    ranks: bool = False
    """Whether the command has the option ``--ranks``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Something that can be asked about a target.

    ``id`` is the depth of its runs, and the name of the layer that its results make. ``label`` names the
    results in the view of targets. ``doing`` is the text of its progress, with ``{target}`` for the target's
    label and ``{device}`` for the GPU of a preview.
    """

    id: str
    label: str
    doing: str
    makes_layer: bool = True
    """Whether its results are kept as a layer, instead of replacing the target's ordinary result."""
    switch: str = ""
    """The switch that turns a run at another analysis' depth into a run of this analysis."""
    switches: Mapping[str, Any] = field(default_factory=dict)
    """The switches that are set for runs of the analysis."""
    effort: Effort = "compiler"
    in_one_process: str = ""
    """What requires a target of one process, as in ``speed is measured``; empty if targets may have ranks."""
    repeats: bool = False
    """Whether the program runs more than once, in children of the worker."""
    reads_traces: bool = False
    """Whether the target of the analysis may be a trace of a program that ran elsewhere."""
    timed: bool = False
    """Whether its worker must be a new process: a warm worker would change the times."""
    progress: Callable[[], AnalysisProgress] = AnalysisProgress
    verdict: Callable[[Report], str | None] = lambda _: None
    """The conclusion of a report in one sentence; ``None`` if its numbers say enough."""
    lines: Callable[[ReportView], Iterator[StyledLine | Finding]] | None = None
    """The text of a report on a terminal; ``None`` for the text of ``fullgraph check``."""
    shape: Callable[[Report], JsonShape] = lambda _: REPORT
    """The shape of a report's JSON."""
    in_editor: EditorAnalysis | None = None
    on_command_line: CommandLineAnalysis | None = None

    @property
    def layer(self) -> Layer:
        """The name of the layer that its results make; empty for the ordinary result."""
        return self.id if self.makes_layer else ""
