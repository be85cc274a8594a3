"""The verdict on a test: its facts compared with its limits."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from fullgraph_compiler.facts import Fact, FrameCompiled, FrameStarted
from fullgraph_server.cli.formats.checked import CheckedReport
from fullgraph_server.cli.formats.text import print_finding
from fullgraph_server.cli.output import clean_console
from fullgraph_server.kinds import KINDS
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.report.source_locator import in_library
from fullgraph_server.text.messages import counted
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.targets import Target
from fullgraph_server.workspace.workspace import Workspace

from .limits import CompileLimits

_NOTHING: Final = (
    "Nothing was compiled: either no compiled function is called, or all functions were compiled before, "
    "by another test or earlier in this one. Call torch.compiler.reset() first to compile them again."
)


class LimitExceededError(AssertionError):
    """The error of a test that exceeds its limits or compiles too little.

    ``span`` is the code at fault, if there is any.
    """

    def __init__(self, text: str, span: Span | None) -> None:
        super().__init__(text)
        self.span = span


def check(facts: Sequence[Fact], target: Target, workspace: Workspace) -> CheckedReport:
    """Return the report of a test's facts."""
    return CheckedReport(target, fold(target.id, 1, "", facts, workspace, target.filename), workspace)


def verdict(
    facts: Sequence[Fact], begin: int, limits: CompileLimits, target: Target, workspace: Workspace
) -> LimitExceededError | None:
    """Return the error for the facts from ``begin`` on; ``None`` if within the limits.

    Facts before ``begin`` are of the same test, and explain the causes of recompilations.
    """
    part = {fact.compile_id for fact in facts[begin:] if isinstance(fact, FrameStarted)}
    if not part and limits.graphs != 0:
        return LimitExceededError(_NOTHING, None)
    checked = check(facts, target, workspace)
    findings = [finding for finding in checked.report.findings if not part.isdisjoint(finding.compile_ids)]
    breaks = [item for item in findings if KINDS[item.kind].runs_eagerly and item.severity != "information"]
    if limits.own_code:
        breaks = [item for item in breaks if not in_library(item, workspace)]
    again = [item for item in findings if item.kind == "recompile"]
    recompiles = sum(len(item.compile_ids & part) for item in again)
    graphs = sum(fact.graphs for fact in facts[begin:] if isinstance(fact, FrameCompiled))

    sentences, guilty = [], []
    if len(breaks) > limits.breaks:
        sentences.append(f"{_kinds(breaks)}, where breaks={limits.breaks} is allowed.")
        guilty += breaks
    if recompiles > limits.recompiles:
        words = KINDS["recompile"].counted(recompiles)
        sentences.append(f"{words}, where recompiles={limits.recompiles} is allowed.")
        guilty += again
    if graphs != limits.graphs and (limits.graphs is not None or not graphs):
        asked = "at least one" if limits.graphs is None else f"graphs={limits.graphs}"
        sentences.append(f"{counted(graphs, 'graph')}, where {asked} is expected.")
    if not sentences:
        return None
    told = [item for item in findings if item in breaks or item in again]
    text = "\n\n".join([" ".join(sentences), *texts(checked, told)])
    return LimitExceededError(text, next((item.span for item in guilty or told), None))


def texts(checked: CheckedReport, findings: Iterable[Finding]) -> Iterator[str]:
    """Yield each finding as text, in the format of ``fullgraph check``."""
    for finding in findings:
        out = io.StringIO()
        print_finding(clean_console(out), checked, finding)
        yield out.getvalue().strip("\n")


def _kinds(findings: Iterable[Finding]) -> str:
    counts = Counter(finding.kind for finding in findings)
    return ", ".join(kind.counted(counts[name]) for name, kind in KINDS.items() if counts[name])
