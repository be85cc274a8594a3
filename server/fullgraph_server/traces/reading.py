"""The report of one log, in the requested detail, with places in workspace files."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from fullgraph_compiler.facts import Depth, Fact, FrameCompiled, RunFinished, TargetProblem
from fullgraph_compiler.trace import (
    FINDING_RECORDS,
    GRAPH_RECORDS,
    TraceInterpreter,
    TraceLog,
    TraceRecord,
)
from fullgraph_compiler.trace.decoding import read_json
from fullgraph_compiler.trace.lines import LINE_RECORDS, LineReader
from fullgraph_compiler.trace.shapes import SHAPE_RECORDS

from ..report.fold import fold
from ..report.model import Finding, Report
from ..text.messages import counted
from ..workspace.positions import Span
from ..workspace.source import SourceFile, SourceReader
from ..workspace.workspace import Workspace
from .logs import LogFile
from .memory import at_most
from .paths import PathMap
from .relocation import Relocation
from .seen_calls import seen_calls

_log = logging.getLogger(__name__)

Detail: TypeAlias = Literal["findings", "graphs", "code"]
"""The records to read.

``findings``: those that findings need. ``graphs``: also guards, graphs and sizes of all compilations.
``code``: all records.
"""

_RECORDS: Final[Mapping[Detail, frozenset[str] | None]] = {
    "findings": FINDING_RECORDS,
    "graphs": GRAPH_RECORDS,
    "code": None,
}
_OF_EXPORTS: Final = frozenset({"export", "exported_program", "graph_dump"})
_VERSION: Final = "torch_version"
_UNDECODED: Final = frozenset({"chromium_event"})
"""Records of one JSON object each; if the detail does not include them, they are only checked for damage."""
_MEMORY: Final = 100 << 20
_MEMORY_SHARE: Final = 12
"""The limit on memory for reading: ``_MEMORY`` bytes plus ``_MEMORY_SHARE`` bytes for each byte of a log."""
_MOST_FINDINGS: Final = 500
_UNPACK: Final = "To see all of it, unpack the log with `gunzip`, and read the unpacked log."
DAMAGE: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)
"""The exceptions that a damaged record can raise."""
_read_source: Final = SourceReader()
"""A cache of source files for all logs that a process reads, since ranks of a job share their files."""


@dataclass(frozen=True)
class ReadOptions:
    """The options for reading logs: the workspace's root, and the detail.

    ``folders`` maps remote folders to folders of the workspace. ``libraries`` are the library folders of the
    local interpreter. ``texts`` maps paths to texts that replace the files on disk. ``files`` are the
    workspace's files.
    """

    root: Path
    detail: Detail = "graphs"
    folders: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    @property
    def depth(self) -> Depth:
        """The depth of a run of a target whose report has the same detail."""
        return "build" if self.detail == "code" else "graph"


def read_report(log: LogFile, reading: ReadOptions, target: str, generation: int = 1) -> Report:
    """Read the report of one log. Raises ``OSError`` if the log cannot be read at all.

    A log that needs more memory than the limit for its size is read with less detail, and the report says so.
    """
    most = _MEMORY + _MEMORY_SHARE * log.size
    problems: tuple[TargetProblem, ...] = ()
    for detail in dict.fromkeys((reading.detail, "findings")):
        try:
            with at_most(most):
                return _report(log, replace(reading, detail=detail), target, generation, problems)
        except MemoryError:
            _log.warning("reading %s for %s takes more than %d bytes", log.path, detail, most)
            problems = (_too_large(log, most, detail),)
    ended = RunFinished("not-started", 0.0)
    return fold(target, generation, "", (*problems, ended), _workspace(reading), log.shown, reading.depth)


def _too_large(log: LogFile, most: int, detail: Detail) -> TargetProblem:
    subject = "The log" if detail == "findings" else "The whole log"
    message = f"{subject} cannot be read: that takes more than {most >> 20} MB of memory"
    packed = (_UNPACK,) if log.path.suffix == ".gz" else ()
    left = () if detail == "findings" else ("Graphs, guards and code are left out.",)
    return TargetProblem("warning" if left else "error", message, (*left, *packed))


def _report(
    log: LogFile, reading: ReadOptions, target: str, generation: int, problems: Sequence[Fact]
) -> Report:
    workspace = _workspace(reading)
    with TraceLog(log.path) as records:
        quoted = _quoted(records)
        paths = PathMap(workspace, reading.files, quoted, reading.folders, reading.libraries)
        relocation = Relocation(paths, quoted)
        detail = reading.detail
        interpreter = TraceInterpreter(
            relocation.line,
            findings_only=detail == "findings",
            code=detail == "code",
            all_texts=detail == "code",
        )
        facts = [*problems, *_facts(records, interpreter, relocation, _names(records, detail))]
        torch = _torch(records)
    seconds = sum(fact.seconds for fact in facts if isinstance(fact, FrameCompiled))
    facts.append(RunFinished("finished", seconds))
    ran = _ExecutedWorkspace(workspace.root, relocation.files.get)
    report = fold(target, generation, torch, facts, ran, log.shown, reading.depth)
    calls = seen_calls(facts, ran) if reading.detail != "findings" else ()
    return replace(report, calls=calls, findings=_some(report.findings, log.shown))


def _names(log: TraceLog, detail: Detail) -> frozenset[str] | None:
    """Return the names of the records to read; ``None`` for all records.

    If the log contains an export, they include the records of sizes.
    """
    names = _RECORDS[detail]
    if names is None or next(iter(log.records(_OF_EXPORTS)), None) is None:
        return names
    return names | SHAPE_RECORDS | {"before_pre_grad_graph"}


def _some(findings: tuple[Finding, ...], filename: str) -> tuple[Finding, ...]:
    """Limit the number of findings; findings about the log itself are never left out."""
    left = len(findings) - _MOST_FINDINGS
    if left <= 0:
        return findings
    own = [finding for finding in findings if finding.kind == "target-error"]
    others = [finding for finding in findings if finding.kind != "target-error"][: _MOST_FINDINGS - len(own)]
    message = f"{counted(left, 'more finding')} of the log {'is' if left == 1 else 'are'} not shown"
    more = Finding("target-error", "target-error", "information", message, Span(filename, 1, 1, 1, 1))
    return (*own, *others, more)


@dataclass(frozen=True)
class _ExecutedWorkspace(Workspace):
    """The workspace with the texts that ran, limited to files that the log refers to."""

    def contains(self, filename: str) -> bool:
        return self.read(filename) is not None


def _workspace(reading: ReadOptions) -> Workspace:
    texts = {name: SourceFile(name, text) for name, text in reading.texts.items()}
    return Workspace(reading.root, lambda filename: texts.get(filename) or _read_source(filename))


def _quoted(log: TraceLog) -> Mapping[str, Mapping[int, str]]:
    """Collect the lines of source files that a log quotes."""
    lines = LineReader()
    for record in log.records(LINE_RECORDS):
        with contextlib.suppress(*DAMAGE):  # reported by ``_facts``
            lines.feed(record)
    return lines.lines


def _facts(
    log: TraceLog, interpreter: TraceInterpreter, relocation: Relocation, names: frozenset[str] | None
) -> Iterator[Fact]:
    """Yield the facts of the records and the problems of the log.

    Of a damaged record, the facts read before the damage are yielded.
    """
    damaged = 0
    for record in log.records(names):
        try:
            yield from relocation.facts(interpreter.feed(record))
        except DAMAGE as error:
            damaged += 1
            _log.info("a record %s cannot be read: %r", record.name, error)
    with contextlib.suppress(*DAMAGE):  # these records are already counted
        yield from relocation.facts(interpreter.finish())
    if log.is_cut:
        message = f"Only the first {log.size >> 20} MB of the log were read: unpacked, it is far larger"
        yield TargetProblem("warning", message, (_UNPACK,))
    if names is not None:
        damaged += sum(map(_is_bent, log.records(_UNDECODED - names)))
    if damaged := damaged + relocation.damaged + log.unread:
        message = f"{counted(damaged, 'record')} of the log cannot be read: it is damaged"
        yield TargetProblem("warning", message, ("Findings that depend on them are missing.",))


def _is_bent(record: TraceRecord) -> bool:
    """Return whether the JSON of a record is damaged.

    Needed for records that are not interpreted, whose damage nothing else reports.
    """
    try:
        read_json(record.payload)
    except ValueError:
        return True
    return False


def _torch(log: TraceLog) -> str:
    """Return the version of torch that wrote a log; empty if unknown.

    Since torch 2.13, the first record contains the version; earlier logs contain it in the metrics.
    """
    for record in log.records({_VERSION, "compilation_metrics"}):
        try:
            values = read_json(record.payload) if record.name == _VERSION else record.body
            return str(values["pytorch_version"])
        except (ValueError, KeyError, TypeError):
            continue
    return ""
