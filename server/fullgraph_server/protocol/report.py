"""Messages of a report: functions, findings, guards, documents, ranks, layers."""

from __future__ import annotations

import attrs
from fullgraph_compiler.facts import Severity
from lsprotocol import types

from ..kinds import FindingKind
from ..runs.slot import RunState


@attrs.frozen
class ReportParams:
    """A request for the report of a target, or of one of its layers."""

    target: str
    layer: str | None = None
    """The ``layer`` of a ``RunSummary`` or ``LayerItem``; absent for the target's own result."""


@attrs.frozen
class GraphItem:
    """One captured graph."""

    compile_id: str
    ops: int
    location: types.Location | None = None
    """The user's line that its first operation comes from."""


@attrs.frozen
class FrameItem:
    """One function of the user's code with all its compilations."""

    function: str
    location: types.Location
    graphs: list[GraphItem]
    ops: int
    breaks: int
    guards: int
    recompiles: int
    seconds: float
    findings: list[int]
    """The indices of the report's findings that belong to it."""


@attrs.frozen
class MinifyOptions:
    """The choice of a target's failure; the first one, if neither field is given."""

    fault: int = 0
    """The number of its fault; 0 before its stage was determined."""
    compile_id: str = ""
    """The graph that fails; empty if unknown."""


@attrs.frozen
class FindingItem:
    """A finding of a report."""

    kind: FindingKind
    kind_name: str
    """The name of its kind, in the plural: ``graph breaks``."""
    code: str
    severity: Severity
    message: str
    count: int
    explanation: str
    """The URI of its full explanation."""
    minify: MinifyOptions | None = None
    """The argument for ``fullgraph.minify``, for a failure that can be minified."""
    location: types.Location | None = None
    """``None`` for a finding of the run as a whole."""


@attrs.frozen
class KernelItem:
    """A piece of generated code: a kernel, or the whole code of a graph."""

    uri: str
    name: str
    graph: str
    """The compile id and the pass (forward, backward) of its graph."""
    operators: str
    """The operators that it computes; empty for the whole code."""
    locations: list[types.Location]
    """The user's lines that it computes."""


@attrs.frozen
class ArtifactItem:
    """A document of a graph: one of its forms, its code, a kernel, or a compiled form of a kernel."""

    uri: str
    name: str
    """The title: ``Graph, transformed``, or a kernel's name."""
    file: str
    """The name of its file, with folders: ``0_0_forward/ir_pre_fusion.txt``."""
    compile_id: str
    phase: str
    """``forward``, ``backward``, ``inference``, or empty for a document of all of them."""
    locations: list[types.Location]
    """The user's lines behind a kernel; empty for other documents, which are of the whole graph."""
    previous: str | None = None
    """The URI of the same document of the run before, if its text was different."""


@attrs.frozen
class RankItem:
    """The summary of one of several ranks of a report."""

    rank: int
    compilations: int
    graphs: int
    breaks: int
    recompiles: int
    seconds: float
    differs: bool
    """Whether it behaves unlike most others."""
    group: int
    """The number of its group: the ranks that are alike in all that is compared."""


@attrs.frozen
class DryItem:
    """A note that the run was a dry one, without data."""

    label: str
    """``dry run``, ``preview for h100``."""
    sentence: str
    unknown: list[str]
    """Sentences about what a run without data cannot determine."""


@attrs.frozen
class ReportItem:
    """The report of a target's last run, partial while that is still on."""

    target: str
    generation: int
    torch: str
    seconds: float
    frames: list[FrameItem]
    findings: list[FindingItem]
    kernels: list[KernelItem]
    artifacts: list[ArtifactItem]
    """In the order of the compiler's steps for each graph; kernels and their compiled forms come last."""
    ranks: list[RankItem]
    """Empty for a program of one process."""
    rank_groups: list[str]
    """The ranks of each group in words, by its number: ``Ranks 0-511``."""
    dry: DryItem | None = None
    """Absent if the run had its data."""
    ignored: int | None = None
    """The number of findings that comments in the source ignore; absent if there are none."""
    left_out: str | None = None
    """The parts of the compiler that were not run, as a note; absent if there are none."""
    files: str | None = None
    """A sentence that the run changed no file, with any limits of that; absent if it could change files."""


@attrs.frozen
class LayerItem:
    """A result that stands beside the one of an ordinary run: a preview, a profile, times."""

    layer: str
    """Its kind: there is one of each."""
    label: str
    """``Preview for h100``."""
    stale: bool
    """Whether a file that it depends on has changed since its run."""
    report: ReportItem
    state: RunState | None = None
    """How its run ended; absent while it is on."""
    verdict: str | None = None
    """What it found, in a sentence; absent if the report's numbers say it."""


@attrs.frozen
class GuardsParams:
    """A request for the guards of one function of a report."""

    target: str
    generation: int
    frame: int
    """Its index in ``ReportItem.frames``."""


@attrs.frozen
class GuardItem:
    """A condition under which a compiled function may be used again."""

    name: str
    """The guarded expression, as the user would write it; empty for ambient state."""
    kind: str
    expected: str
    failures: int
    ambient: bool
    """Whether it guards state of the process, such as the grad mode, rather than a value."""
    origin: str = ""
    """The kind of the value: a parameter, a buffer, a global; empty if unknown."""
    location: types.Location | None = None
    """The place of the value's first use."""
    origin_location: types.Location | None = None
    """The definition of the value: the parameter, the assignment of the attribute."""
    code: str = ""
    """torch's own check."""


@attrs.frozen
class FindingData:
    """The data of a diagnostic, for later requests about it."""

    target: str
    generation: int
    kind: FindingKind
    count: int
    rendered: str
    """The full explanation, as plain text."""
    explanation: str
    """The URI of the full explanation."""
    minify: MinifyOptions | None = None
    """The argument for ``fullgraph.minify``, for a failure that can be minified."""


@attrs.frozen
class ExcerptItem:
    """Lines of the source from the line ``start`` on; ``first`` and ``last`` are those of a finding."""

    start: int
    lines: list[str]
    first: int
    last: int


@attrs.frozen
class NoteItem:
    """A note on a finding, such as its reason."""

    label: str
    text: str


@attrs.frozen
class ToldFindingItem:
    """A finding with all that an editor shows of it in other places."""

    finding: FindingItem
    place: str
    """``model.py:12:9``; empty for a finding of the run as a whole."""
    notes: list[NoteItem]
    excerpt: ExcerptItem | None = None
    """Absent if the line is in no file of the workspace."""


@attrs.frozen
class TraceItem:
    """The rest of a trace, for a page of its own. It is written to a file, and no message."""

    report: ReportItem
    findings: list[ToldFindingItem]
    texts: dict[str, str]
    """The texts of documents, by URI."""
    rank: int | None = None
    """Of several ranks, the one whose graphs, kernels and times are shown."""
