"""Run one pytest node."""

from __future__ import annotations

import importlib.util
from typing import Any

from ..facts import PytestNode
from ..observe.outcome import ProgramOutcome, not_started


class _FailureCollector:
    """A pytest plugin that collects the exceptions of failed tests."""

    def __init__(self) -> None:
        self.raised: list[BaseException] = []

    def pytest_exception_interact(self, call: Any) -> None:
        """Collect an exception; pytest calls this hook for every exception except skips."""
        self.raised.append(call.excinfo.value)


def run_test(program: PytestNode, *, overlaid: bool = False) -> ProgramOutcome:
    """Run a pytest node in this process, with the user's own pytest and configuration.

    ``overlaid`` says that unsaved texts replace some files.
    """
    if importlib.util.find_spec("pytest") is None:
        return not_started("this interpreter has no pytest", "Install it: pip install pytest")
    import pytest

    # pytest's faulthandler would replace the worker's, which reports where a crash happened.
    arguments = ["-p", "no:cacheprovider", "-p", "no:faulthandler", program.node]
    if importlib.util.find_spec("xdist") is not None:
        # Tests in other processes could not be observed.
        arguments[:0] = ["-n0"]
    if overlaid:
        # To rewrite assertions, pytest reads files from the disk, and caches the rewritten code.
        arguments[:0] = ["--assert=plain"]
    collector = _FailureCollector()
    code = int(pytest.main(arguments, plugins=[collector]))
    if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED) and not collector.raised:
        return not_started(
            f"pytest finds no test {program.node}", "Check the node id: path::Class::test[param]"
        )
    return ProgramOutcome("raised" if collector.raised else "finished", code, tuple(collector.raised))
