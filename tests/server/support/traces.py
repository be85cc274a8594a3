"""Logs for tests, made of recorded ones."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from fullgraph_server.report.model import Report
from fullgraph_server.traces.reading import Detail, ReadOptions
from fullgraph_server.traces.trace import read_trace

RECORDED = Path(__file__).parents[2] / "compiler" / "traces"
PROGRAM = (RECORDED / "program.py").read_text()
"""What the recorded logs are of; there it was ``/home/user/project/program.py``."""


def recorded(version: str = "2.13") -> bytes:
    """A log of the program."""
    return gzip.decompress((RECORDED / f"torch-{version}.log.gz").read_bytes())


LOG = recorded()
SHORT = LOG[: LOG.index(b"\nV", LOG.index(b'"co_name": "limit"')) + 1]
"""A log, and the same up to a function that is compiled eight times there."""


def project_of(folder: Path) -> Path:
    """A project with the program, and an empty folder for the logs of a job."""
    (folder / "job").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (folder / "program.py").write_text(PROGRAM)
    return folder


def records(log: bytes) -> list[bytes]:
    """A log in parts, each with one record."""
    return re.split(rb"^(?=V\d{4} )", log, flags=re.MULTILINE)[1:]


def read(path: Path, root: Path, detail: Detail = "graphs", **more: object) -> Report:
    """The report of a log about the files below a folder."""
    return read_trace(path, ReadOptions(root, detail, **more), "t")  # type: ignore[arg-type]


def places(report: Report) -> list[tuple[str, str, int]]:
    """Code, file and row of each finding."""
    return [(item.code, Path(item.span.filename).name, item.span.row) for item in report.findings]
