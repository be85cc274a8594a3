"""An analysis as data: its words, its limits, and its views."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..report.model import Finding, Layer, Report
from ..shapes.report import REPORT
from ..shapes.shape import Shape
from .progress import Progress
from .shown import Line, Shown

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
- ``compiler``: several times as long, with kernels that are kept for later runs
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InEditor:
    """An analysis in editors.

    ``command`` is the command of the server, ``client`` that of VS Code, ``title`` its title, and
    ``question`` what "Analyze…" says about it. ``order`` is its place within ``group``.
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
    """Whether the server shows the verdict as a message."""
    menu: Literal["", "analyses", "kernels"] = ""
    """The submenu of a target that has it, too; VS Code's menus here have seven entries at most."""
    in_palette: bool = False
    """Whether the palette has it, beside "Analyze…"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchOption:
    """An option of the command line with a number of at least 1, which sets a switch of the run."""

    name: str
    switch: str
    help: str
    metavar: str = "N"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnCommandLine:
    """An analysis as ``fullgraph NAME TARGET``.

    ``help`` is the text of its ``--help``; it is empty if the command is written in ``cli/app.py``, since it
    does more than run the analysis. ``answer`` is the question that the command answers, for the docs.
    """

    name: str
    answer: str
    page: str = ""
    """The page of the docs, as a link target from the root of the repository."""
    help: str = ""
    options: tuple[SwitchOption, ...] = ()
    ranks: bool = False
    """Whether ``--ranks`` is one of its options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Something that can be asked about a target.

    ``id`` is the depth of its runs, and the layer that its results make. ``label`` names these in the view of
    targets, ``doing`` says what a run does, with ``{target}`` for the target's label and ``{device}`` for the
    GPU of a preview.
    """

    id: str
    label: str
    doing: str
    makes_layer: bool = True
    """Whether its results leave the ordinary result of the target as it was."""
    switch: str = ""
    """The switch that makes a run at the depth of another analysis one of this."""
    switches: Mapping[str, Any] = field(default_factory=dict)
    """Switches that its runs are started with."""
    effort: Effort = "compiler"
    in_one_process: str = ""
    """What one process is needed for, as in ``speed is measured``; empty if several ranks can run."""
    repeats: bool = False
    """Whether the program runs more than once, in children of the worker."""
    reads_traces: bool = False
    """Whether a trace, of a program that ran elsewhere, can be read for it."""
    timed: bool = False
    """Whether its worker must be a new process, so that nothing that is warm changes the times."""
    progress: Callable[[], Progress] = Progress
    verdict: Callable[[Report], str | None] = lambda _: None
    """What a result of it says in one sentence; ``None`` if numbers say it."""
    lines: Callable[[Shown], Iterator[Line | Finding]] | None = None
    """The text of a report on a terminal; ``None`` for that of ``fullgraph check``."""
    shape: Callable[[Report], Shape] = lambda _: REPORT
    """The shape of a report's JSON."""
    in_editor: InEditor | None = None
    on_command_line: OnCommandLine | None = None

    @property
    def layer(self) -> Layer:
        """The layer that its results make; empty for the ordinary result."""
        return self.id if self.makes_layer else ""
