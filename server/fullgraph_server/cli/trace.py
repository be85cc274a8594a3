"""Reports of traces, shown on the files of the current project.

The traced programs may have run on another machine.
"""

from __future__ import annotations

import gzip
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

import click
from fullgraph_compiler.trace import read_head

from ..runs.effective_settings import SettingOverrides, resolve
from ..text.urls import Url, is_url
from ..traces.archives import is_archive
from ..traces.logs import NoTraceError
from ..traces.paths import library_folders
from ..traces.places import at_hand, logs_of
from ..traces.present import as_it_is_now
from ..traces.reading import Detail, ReadOptions
from ..traces.seen_calls import example_lines
from ..traces.trace import each_report, of_rank, read_logs
from ..workspace.config import read_config
from ..workspace.targets import Target, Trace, trace_target
from ..workspace.workspace import Workspace, project_root
from .exports.timeline import write_timeline
from .fail_on import FAIL_ON
from .formats import CheckedReport, ComparisonFormat, Format
from .formats.checked import shown_path
from .formats.comparison import compared
from .known import KnownFindings
from .output import tell, write_line

_SIGNALLED: Final = 128
"""The exit code of a command that a signal has ended, minus the signal's number."""
_LIBRARY = re.compile(r"[\\/](site|dist)-packages[\\/]")


@dataclass(frozen=True)
class TraceOptions:
    """The options for reading a trace.

    ``folders`` are pairs of a folder on the other machine and the corresponding local folder. ``scheduler``
    is the address of a Dask cluster whose workers read the ranks.
    """

    rank: int | None = None
    scheduler: str = ""
    folders: Sequence[tuple[str, str]] = ()
    python: str | None = None
    detail: Detail = field(default="findings")

    @property
    def overrides(self) -> SettingOverrides:
        """The settings from the options; paths in them are relative to the current folder."""
        return SettingOverrides(Path.cwd(), interpreter=self.python, trace_paths=dict(self.folders))


def show_trace(
    place: str,
    options: TraceOptions,
    write: Format,
    fail_on: str,
    baseline: KnownFindings | None,
    folder: Path | None = None,
) -> int:
    """Write a trace's report to stdout, and its page to ``folder``, if given.

    Return the exit code.
    """
    if folder is not None:
        # Imported late: the page is built from the language server's answers.
        from .exports.folder import problem_with

        with _told_errors(folder):
            if problem := problem_with(folder):
                raise click.UsageError(problem)
    checked = _checked(place, options, baseline)
    if folder is not None:
        _write_page(place, checked, folder)
    write([checked], 1, sys.stdout)
    if missing := _missing_files(checked):
        tell(missing)
    if baseline and (message := baseline.end(complete=True)):
        tell(message)
    return int(any(map(FAIL_ON[fail_on], checked.new_findings)))


def compare_traces(before: str, after: str, options: TraceOptions, write: ComparisonFormat) -> int:
    """Write the differences between two traces, and return the exit code."""
    one, other = (_checked(place, options) for place in (before, after))
    comparison = compared(one, other)
    write(comparison, other, sys.stdout)
    return int(comparison.worse)


def show_examples(place: str, options: TraceOptions) -> int:
    """Write example calls of the compiled functions, and return the exit code.

    The exit code is 1 if no example call can be written.
    """
    lines = example_lines(_checked(place, options).report)
    for filename, row, examples in lines:
        for line in (f"{shown_path(filename)}:{row}", *examples, ""):
            write_line(sys.stdout, line)
    if not lines:
        tell("No function of the project has calls that can be written as examples.")
    return 0 if lines else 1


def _missing_files(checked: CheckedReport) -> str:
    """Return a message if the project has no compiled file of the user, or ``""``."""
    workspace = checked.workspace
    files = [name for frame in checked.report.frames if not _LIBRARY.search(name := frame.filename)]
    if not files or any(map(workspace.contains, files)):
        return ""
    missing = f"{files[0]} was compiled elsewhere, and {workspace.root} has no such file"
    return f"{missing}: start in the folder of the project, or map its folder with --map THERE HERE"


def _write_page(place: str, checked: CheckedReport, folder: Path) -> None:
    from .exports.folder import PAGE, write_folder

    assert isinstance(checked.target.program, Trace)
    usual = checked.report.usual_rank
    rank = checked.target.program.rank if usual is None else usual
    path = _path(place)
    with _told_errors(folder), _unwound_by_signals(), logs_of(path) as logs:
        log, *_ = of_rank(path, logs, rank).logs
        with at_hand(log, keep=False) as here:
            write_folder(checked, here.path, folder)
    tell(f"{folder / PAGE} opens in a browser; its folder can be shared")


def trace_timeline(place: str, options: TraceOptions, file: Path) -> None:
    """Write the steps of all ranks into a file that Perfetto opens."""
    path = _path(place)
    target, reading = _resolved(path, options)
    with _told_errors(file), _unwound_by_signals(), logs_of(path) as logs:
        if file.is_file() and (read_head(file) or is_archive(file.resolve().name)):
            raise click.UsageError(f"{file} is a log or an archive: name another file")
        reports = each_report(of_rank(path, logs, options.rank), reading, target.id)
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "wt", encoding="ascii") as out:
            doubt = write_timeline(reports, Workspace(reading.root), out)
    tell(f"{file} can be opened in https://ui.perfetto.dev")
    if doubt:
        tell(doubt)


def _path(place: str) -> Path | Url:
    return Url(place) if is_url(place) else Path(os.path.abspath(place))


def _resolved(path: Path | Url, options: TraceOptions) -> tuple[Target, ReadOptions]:
    root = project_root(Path.cwd())
    trace = trace_target(str(path), root, options.rank)
    target, settings = resolve(trace, read_config(root), options.overrides)
    assert isinstance(target.program, Trace)
    folders = dict(target.program.folders)
    return target, ReadOptions(root, options.detail, folders, library_folders(settings.python))


@contextmanager
def _unwound_by_signals() -> Iterator[None]:
    """Turn the first signal into ``SystemExit``, so that copies of logs are deleted."""

    def unwind(number: int, _frame: FrameType | None) -> None:
        for signal_ in before:
            signal.signal(signal_, signal.SIG_IGN)
        raise SystemExit(_SIGNALLED + number)

    numbers = [signal.SIGTERM, signal.SIGINT]
    if sys.platform != "win32":
        numbers.append(signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    before = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _told_errors(path: Path | Url, done: str = "written") -> Iterator[None]:
    try:
        yield
    except NoTraceError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{path} cannot be {done}: {error.strerror}") from error


def _checked(place: str, options: TraceOptions, baseline: KnownFindings | None = None) -> CheckedReport:
    path = _path(place)
    target, reading = _resolved(path, options)
    root = reading.root
    workspace = Workspace(root)
    with _told_errors(path, "read"), _unwound_by_signals(), logs_of(path) as logs:
        if logs.older and sys.stderr.isatty():
            tell(f"{logs.older} older logs are left out: name one to see it")
        read = read_logs(path, logs, reading, target.id, rank=options.rank, scheduler=options.scheduler)
    report = as_it_is_now(read, workspace)
    known_findings = baseline.of(report, root) if baseline else None
    # A log can name any file, so the workspace reads only files of the report.
    return CheckedReport(target, report, Workspace(root, report.files.get), known_findings)
