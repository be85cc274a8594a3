"""The report at the end of ``pytest --fullgraph``: all tests' findings, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
import pytest
from fullgraph_compiler.facts import Fact, from_json
from fullgraph_server.cli.formats.checked import CheckedReport
from fullgraph_server.cli.known import KnownFindings
from fullgraph_server.kinds import KINDS
from fullgraph_server.report.finding_builder import by_place
from fullgraph_server.report.model import Finding
from fullgraph_server.text.messages import counted
from fullgraph_server.workspace.config import baseline_path, read_config
from fullgraph_server.workspace.targets import pytest_target
from fullgraph_server.workspace.workspace import Workspace, project_root

from .hooks import TOLD
from .verdict import check, texts


@dataclass
class _FindingTests:
    """A finding as in the first test that has it, and the names of all such tests."""

    checked: CheckedReport
    finding: Finding
    tests: list[str] = field(default_factory=list)


class SessionSummary:
    """The findings of all tests, from this process or from workers of pytest-xdist.

    Raises ``pytest.UsageError`` if the baseline cannot be used.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._root = config.rootpath
        self._workspace = Workspace(project_root(config.rootpath))
        self._known = _known(config, self._workspace.root)
        self._facts: dict[str, tuple[Fact, ...]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store the facts of a test."""
        told: Any = getattr(report, TOLD, None)
        if told:
            self._facts[report.nodeid] = from_json(told)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the findings."""
        terminalreporter.write_sep("=", "torch.compile in all tests")
        for line in self._lines():
            terminalreporter.write_line(line)

    def _lines(self) -> Iterator[str]:
        checked = [self._check(node, facts) for node, facts in sorted(self._facts.items())]
        new = _merged((one, finding) for one in checked for finding in one.new_findings)
        known = _merged((one, finding) for one in checked if one.known for finding in one.known.findings)
        for seen in new:
            (text,) = texts(seen.checked, [seen.finding])
            yield from text.splitlines()
            others = f" and {counted(len(seen.tests) - 1, 'other test')}" if len(seen.tests) > 1 else ""
            yield f"In {seen.tests[0]}{others}"
            yield ""
        if known:
            yield f"{counted(len(known), 'finding is', 'findings are')} in the baseline"
        counts = Counter(seen.finding.kind for seen in new)
        words = [kind.counted(counts[name]) for name, kind in KINDS.items() if counts[name]]
        graphs = sum(frame.graphs for one in checked for frame in one.report.frames)
        nothing = "no new findings" if known else "no findings"
        tests = f"{counted(len(checked), 'test')} that compiled ({counted(graphs, 'graph')})"
        yield f"{', '.join(words) or nothing} in {tests}"
        if message := self._known.end(complete=True) if self._known else "":
            yield _of_pytest(message)

    def _check(self, node: str, facts: tuple[Fact, ...]) -> CheckedReport:
        checked = check(facts, pytest_target(node, self._root), self._workspace)
        known = self._known.of(checked.report, self._workspace.root) if self._known else None
        return replace(checked, known=known)


def _merged(findings: Iterable[tuple[CheckedReport, Finding]]) -> list[_FindingTests]:
    """Merge equal findings of several tests; sort them by place."""
    merged: dict[tuple[object, ...], _FindingTests] = {}
    for checked, finding in findings:
        key = finding.kind, finding.code, finding.span, finding.message
        merged.setdefault(key, _FindingTests(checked, finding)).tests.append(checked.target.label)
    return sorted(merged.values(), key=lambda seen: by_place(seen.finding))


def _known(config: pytest.Config, root: Path) -> KnownFindings | None:
    """Return the findings of the baseline that an option or pyproject.toml names."""
    update: bool = config.option.fullgraph_update_baseline
    named: str | None = config.option.fullgraph_baseline
    path = Path(named) if named else baseline_path(read_config(root))
    if path is None:
        if update:
            raise pytest.UsageError("--fullgraph-update-baseline needs --fullgraph-baseline FILE")
        return None
    try:
        return KnownFindings(path, update=update)
    except click.UsageError as error:
        raise pytest.UsageError(_of_pytest(error.message)) from error


def _of_pytest(message: str) -> str:
    """Return a message of ``fullgraph check`` with the name of the pytest option."""
    return message.replace("--update-baseline", "--fullgraph-update-baseline")
