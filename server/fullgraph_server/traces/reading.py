"""A log as a report: decoded as far as is asked for, on the files of the workspace."""

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
    KNOWN_RECORDS,
    Interpreter,
    TraceLog,
    TraceRecord,
)
from fullgraph_compiler.trace.decoding import read_json
from fullgraph_compiler.trace.inputs import INPUT_RECORDS, FrameInputs, InputReader
from fullgraph_compiler.trace.lines import LINE_RECORDS, LineReader

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
"""How much of a log is decoded: what findings need; guards, graphs and sizes of every compilation; all."""

_RECORDS: Final[Mapping[Detail, frozenset[str]]] = {
    "findings": FINDING_RECORDS,
    "graphs": GRAPH_RECORDS,
    "code": KNOWN_RECORDS,
}
_VERSION: Final = "torch_version"
_UNDECODED: Final = frozenset({"chromium_event"})
"""Records of one JSON object each, which most readings have no use for."""
_MEMORY: Final = 100 << 20
_MEMORY_SHARE: Final = 12
"""Bytes that reading may take, and for each byte of the log more."""
_MOST_FINDINGS: Final = 500
_UNPACK: Final = "Unpack the log with `gunzip`, and read that, to see all of it."
_DAMAGE: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)
"""What comes of a record that does not have the form that torch gives it."""


@dataclass(frozen=True)
class Reading:
    """How logs are read: whose files they speak of, and how much of them is wanted.

    ``folders`` maps folders of the other machine to such of the workspace, ``libraries`` are the local
    interpreter's, ``texts`` stand for files that differ from those on disk. ``files`` are the workspace's.
    """

    root: Path
    detail: Detail = "graphs"
    folders: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    @property
    def depth(self) -> Depth:
        """What a run would be called that told as much."""
        return "build" if self.detail == "code" else "graph"


def read_report(log: LogFile, reading: Reading, target: str, generation: int = 1) -> Report:
    """The report of one log. Raises ``OSError`` when it cannot be read at all.

    Of a log that takes far more memory than logs of its size do, less is read, and that is told.
    """
    most = _MEMORY + _MEMORY_SHARE * log.size
    told: tuple[TargetProblem, ...] = ()
    for detail in dict.fromkeys((reading.detail, "findings")):
        try:
            with at_most(most):
                return _report(log, replace(reading, detail=detail), target, generation, told)
        except MemoryError:
            _log.warning("reading %s for %s takes more than %d bytes", log.path, detail, most)
            told = (_too_large(log, most, detail),)
    ended = RunFinished("not-started", 0.0)
    return fold(target, generation, "", (*told, ended), _workspace(reading), str(log.path), reading.depth)


def _too_large(log: LogFile, most: int, detail: Detail) -> TargetProblem:
    what = "The log" if detail == "findings" else "All of the log"
    message = f"{what} cannot be read: that takes more than {most >> 20} MB of memory"
    packed = (_UNPACK,) if log.path.suffix == ".gz" else ()
    left = () if detail == "findings" else ("Graphs, guards and code are left out.",)
    return TargetProblem("warning" if left else "error", message, (*left, *packed))


def _report(log: LogFile, reading: Reading, target: str, generation: int, told: Sequence[Fact]) -> Report:
    workspace = _workspace(reading)
    with TraceLog(log.path) as records:
        quoted = _quoted(records)
        paths = PathMap(workspace, reading.files, quoted, reading.folders, reading.libraries)
        relocation = Relocation(paths, quoted)
        interpreter = Interpreter(relocation.line, findings_only=reading.detail == "findings")
        facts = [*told, *_facts(records, interpreter, relocation, _RECORDS[reading.detail])]
        inputs = _inputs(records) if reading.detail != "findings" else {}
        torch = _torch(records)
    seconds = sum(fact.seconds for fact in facts if isinstance(fact, FrameCompiled))
    facts.append(RunFinished("finished", seconds))
    ran = _Ran(workspace.root, relocation.files.get)
    report = fold(target, generation, torch, facts, ran, str(log.path), reading.depth)
    return replace(
        report, calls=seen_calls(facts, inputs, ran), findings=_some(report.findings, str(log.path))
    )


def _some(findings: tuple[Finding, ...], filename: str) -> tuple[Finding, ...]:
    """As many as a person and an editor can take; those on the log itself are never left out."""
    left = len(findings) - _MOST_FINDINGS
    if left <= 0:
        return findings
    own = [finding for finding in findings if finding.kind == "target-error"]
    others = [finding for finding in findings if finding.kind != "target-error"][: _MOST_FINDINGS - len(own)]
    message = f"{counted(left, 'more finding')} of the log {'is' if left == 1 else 'are'} not shown"
    more = Finding("target-error", "target-error", "information", message, Span(filename, 1, 1, 1, 1))
    return (*own, *others, more)


@dataclass(frozen=True)
class _Ran(Workspace):
    """The files that a log speaks of, as they ran. A name of a log is compared with theirs."""

    def contains(self, filename: str) -> bool:
        return self.read(filename) is not None


def _workspace(reading: Reading) -> Workspace:
    read = SourceReader()
    texts = {name: SourceFile(name, text) for name, text in reading.texts.items()}
    return Workspace(reading.root, lambda filename: texts.get(filename) or read(filename))


def _quoted(log: TraceLog) -> Mapping[str, Mapping[int, str]]:
    """The lines of source files that a log quotes."""
    lines = LineReader()
    for record in log.records(LINE_RECORDS):
        with contextlib.suppress(*_DAMAGE):  # which is told where findings are made of the record
            lines.feed(record)
    return lines.lines


def _inputs(log: TraceLog) -> Mapping[str, FrameInputs]:
    """What each compilation was given."""
    inputs = InputReader()
    for record in log.records(INPUT_RECORDS):
        inputs.feed(record)
    return inputs.inputs


def _facts(
    log: TraceLog, interpreter: Interpreter, relocation: Relocation, names: frozenset[str]
) -> Iterator[Fact]:
    """All that the records tell; of one that is damaged, what it tells until then."""
    damaged = 0
    for record in log.records(names):
        try:
            yield from relocation.facts(interpreter.feed(record))
        except _DAMAGE as error:
            damaged += 1
            _log.info("a record %s cannot be read: %r", record.name, error)
    with contextlib.suppress(*_DAMAGE):  # of records that were counted
        yield from relocation.facts(interpreter.finish())
    if log.is_cut:
        message = f"Only the first {log.size >> 20} MB of the log were read: unpacked, it is far larger"
        yield TargetProblem("warning", message, (_UNPACK,))
    damaged += sum(map(_is_bent, log.records(_UNDECODED - names)))
    if damaged := damaged + relocation.damaged + log.unread:
        message = f"{counted(damaged, 'record')} of the log cannot be read: it is damaged"
        yield TargetProblem("warning", message, ("Findings that rest on them are missing.",))


def _is_bent(record: TraceRecord) -> bool:
    """Whether the JSON of a record is cut off or changed, of which nothing else would tell."""
    try:
        read_json(record.payload)
    except ValueError:
        return True
    return False


def _torch(log: TraceLog) -> str:
    """The version of torch that wrote a log; in its first record since 2.13, among figures before."""
    for record in log.records({_VERSION, "compilation_metrics"}):
        try:
            told = read_json(record.payload) if record.name == _VERSION else record.body
            return str(told["pytorch_version"])
        except (ValueError, KeyError, TypeError):
            continue
    return ""
