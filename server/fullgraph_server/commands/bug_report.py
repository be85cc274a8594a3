"""``fullgraph/bugReport``: a failure in the form of PyTorch's issue template."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from ..client.targets import NoTargetReason
from ..features.context import ServerContext
from ..protocol.environment import BugReportItem
from ..protocol.names import BUG_REPORT
from ..protocol.targets import TargetParams
from ..report.model import Report
from ..text.markdown import fenced, paragraphs
from ..text.urls import without_secrets
from ..workers.environment import environment_report
from ..workers.interpreter import PythonInterpreter
from ..workers.program_output import output_of
from ..workspace.own_folder import REPRO_RAISES, is_repro
from ..workspace.source import SourceFile
from .interpreter import interpreter_of

_LONGEST = 20_000
"""The most characters of an error log: GitHub limits an issue to 65,536 in all."""


_OF_REPRO = "code of your program and its inputs (which may include weights)"


@dataclass(frozen=True)
class _FailureReport:
    """A failure to report: a description, a program, and the compiler's log.

    ``holds`` says which code and data of the user the program contains.
    """

    description: str
    code: str
    logs: str
    holds: str


def register(context: ServerContext) -> None:
    """Register the handler of ``fullgraph/bugReport``."""

    @context.server.feature(BUG_REPORT)
    async def bug_report(params: TargetParams) -> BugReportItem:
        target = context.targets.find(params.target)
        if isinstance(target, NoTargetReason):
            return BugReportItem(problem=target.message)
        repro = Path(target.filename) if is_repro(target.filename) else context.minifications.repro(target.id)
        uri = context.documents.uri(target.filename)
        python, root = await interpreter_of(uri, context.documents, context.configuration)
        source = context.documents.source(str(repro)) if repro else None
        if repro is not None and source is not None:
            failure = await _of_repro(repro, source, python, root)
        else:
            report = context.runs.report(target.id)
            worst = _of_report(report, context.documents.source(target.filename)) if report else None
            if worst is None:
                problem = f"{target.label} has no failure to report: analyze it first."
                return BugReportItem(problem=problem)
            failure = worst
        text = _text(failure, await environment_report(python, root))
        always = "the error log and paths of this machine: read it before you publish it."
        return BugReportItem(text, f"The bug report holds {failure.holds}, {always}")


async def _of_repro(repro: Path, source: SourceFile, python: PythonInterpreter, root: Path) -> _FailureReport:
    # A repro begins with a comment that says how it fails.
    head = itertools.takewhile(lambda line: line.startswith("# "), source.lines)
    description = "\n".join(line.removeprefix("# ") for line in head)
    logs = await output_of((python.path, str(repro), REPRO_RAISES), root)
    return _FailureReport(description, source.text, logs, _OF_REPRO)


def _of_report(report: Report, source: SourceFile | None) -> _FailureReport | None:
    """Return the worst failure of a run, with the text of its file that ran."""
    failures = [finding for finding in report.findings if finding.severity == "error"]
    failures.sort(key=lambda finding: not finding.minifiable)
    if not failures:
        return None
    finding = failures[0]
    ran = report.files.get(finding.span.filename) or source
    code, name = ran.text if ran else "", Path(finding.span.filename).name
    return _FailureReport(finding.message, code, finding.text or finding.message, f"the text of {name}")


def _text(failure: _FailureReport, environment: str) -> str:
    logs = without_secrets(failure.logs.strip())
    if len(logs) > _LONGEST:
        logs = f"(the last {_LONGEST:,} characters)\n{logs[-_LONGEST:]}"
    parts = ["### 🐛 Describe the bug", paragraphs(failure.description), fenced("python", failure.code)]
    parts += ["### Error logs", fenced("text", logs), "### Versions", without_secrets(environment.strip())]
    return "\n\n".join(part for part in parts if part) + "\n"
