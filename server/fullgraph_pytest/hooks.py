"""Pytest hooks that observe some or all tests of a suite that uses the plugin."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from fullgraph_compiler.facts import to_json
from fullgraph_server.cli.formats.checked import shown_path
from fullgraph_server.workspace.targets import pytest_target
from fullgraph_server.workspace.workspace import Workspace, project_root

from .limits import limits_of
from .verdict import LimitExceededError

if TYPE_CHECKING:
    from .observing import TestObservation

_OBSERVATION = pytest.StashKey["TestObservation"]()
TOLD = "fullgraph"
"""The report attribute with the facts of a test, which pytest-xdist sends to the main process."""
_NO_TORCH = "The use of torch.compile cannot be checked: this environment has no torch."
_UNJUDGED = "The test itself failed: its graph breaks and recompilations were not checked."


class PytestHooks:
    """The hooks of a run of pytest."""

    def __init__(self, config: pytest.Config) -> None:
        self._all: bool = config.option.fullgraph
        self._root = config.rootpath
        self._workspace = Workspace(project_root(config.rootpath))

    @contextlib.contextmanager
    def observed(self, item: pytest.Item) -> Iterator[TestObservation]:
        """Observe a test; yield the existing observation if the test is observed already."""
        if _OBSERVATION in item.stash:
            yield item.stash[_OBSERVATION]
            return
        if importlib.util.find_spec("torch") is None:
            pytest.fail(_NO_TORCH, pytrace=False)
        from .observing import TestObservation

        observation = TestObservation(pytest_target(item.nodeid, self._root), self._workspace)
        with observation.listening():
            item.stash[_OBSERVATION] = observation
            try:
                yield observation
            finally:
                del item.stash[_OBSERVATION]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Observe a test together with its fixtures."""
        is_observed = self._all or item.get_closest_marker("fullgraph")
        with contextlib.ExitStack() as stack:
            if is_observed and importlib.util.find_spec("torch") is not None:
                stack.enter_context(self.observed(item))
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fail a test with the marker if its arguments are invalid or torch is missing."""
        marker = item.get_closest_marker("fullgraph")
        if marker is None:
            return
        if _OBSERVATION not in item.stash:
            pytest.fail(_NO_TORCH, pytrace=False)
        try:
            limits_of(marker.args, marker.kwargs)
        except TypeError as error:
            raise pytest.fail.Exception(f"The marker is invalid: {error}.", pytrace=False) from None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Judge a test that has the marker by the marker's limits."""
        marker = item.get_closest_marker("fullgraph")
        if marker is None:
            return (yield)
        with item.stash[_OBSERVATION].part(*marker.args, **marker.kwargs):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Show a verdict on the line that caused it; add the facts to the last report."""
        report = yield
        error = call.excinfo.value if call.excinfo else None
        if isinstance(error, LimitExceededError):
            _tell(report, item, call, error)
        elif report.failed and report.when == "call" and item.get_closest_marker("fullgraph"):
            report.sections.append(("fullgraph", _UNJUDGED))
        if report.when == "teardown" and self._all and _OBSERVATION in item.stash:
            vars(report)[TOLD] = to_json(item.stash[_OBSERVATION].facts())
        return report


def _tell(
    report: pytest.TestReport, item: pytest.Item, call: pytest.CallInfo[Any], error: LimitExceededError
) -> None:
    """Reduce a report to the verdict's text, on the line that caused it.

    The first line of the verdict is also appended to the reason of an expected failure.
    """
    assert call.excinfo is not None
    shown, (first, *_) = call.excinfo.getrepr(style="value"), str(error).splitlines()
    place = shown.reprcrash
    if place is not None:
        place.message = first
        if error.span is not None:
            place.path, place.lineno = shown_path(error.span.filename), error.span.row
        elif os.path.dirname(place.path) == os.path.dirname(__file__):
            path, row, _ = item.reportinfo()
            place.path, place.lineno = shown_path(str(path)), (row or 0) + 1
    report.longrepr = shown
    if hasattr(report, "wasxfail"):
        report.wasxfail = ": ".join(filter(None, (report.wasxfail, first)))
