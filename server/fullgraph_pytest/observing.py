"""What torch compiles while a test runs: only listened to, so that nothing is compiled otherwise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from fullgraph_compiler.compat import trace_compat
from fullgraph_compiler.facts import (
    Artifact,
    CodeGenerated,
    Fact,
    FrameStarted,
    GraphCaptured,
    GraphPart,
    PhasesTimed,
    Recompile,
    RecompileLimit,
)
from fullgraph_compiler.observe.live import TraceListener
from fullgraph_server.workspace.targets import Target
from fullgraph_server.workspace.workspace import Workspace

from .limits import Limits, limits_of
from .verdict import verdict

_NO_FINDINGS = (Artifact, CodeGenerated, GraphCaptured, GraphPart, PhasesTimed)
"""Facts, large ones among them, that no finding is made of."""


class Observation:
    """What is compiled in one test, with its fixtures."""

    def __init__(self, target: Target, workspace: Workspace) -> None:
        self.target, self.workspace = target, workspace
        self._facts: list[Fact] = []
        self._listener = TraceListener(self._take)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listen."""
        with trace_compat.listening(self._listener):
            yield

    def part(self, *positional: Any, **named: Any) -> Part:
        """Return the part of the test that begins with a ``with``: it has to keep these limits."""
        __tracebackhide__ = True
        return Part(self, limits_of(positional, named))

    def facts(self) -> list[Fact]:
        """Return all facts so far, without recompilations that are not of this test alone.

        What another test in the process compiled would make its results depend on the order of tests.
        """
        self._listener.finish()
        begun = {fact.compile_id for fact in self._facts if isinstance(fact, FrameStarted)}
        return [
            fact
            for fact in self._facts
            if not isinstance(fact, (Recompile, RecompileLimit))
            or not fact.failures
            or any(failure.compile_id in begun for failure in fact.failures)
        ]

    def _take(self, facts: list[Fact]) -> None:
        self._facts += (fact for fact in facts if not isinstance(fact, _NO_FINDINGS))


class Part:
    """A part of a test that is judged at its end, unless it raises: then that is what the test tells."""

    def __init__(self, observation: Observation, limits: Limits) -> None:
        self._observation, self._limits = observation, limits
        self._before: list[Fact] = []

    def __enter__(self) -> None:
        """Begin the part."""
        self._before = self._observation.facts()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Judge the part. Raises :class:`.verdict.LimitExceededError`."""
        __tracebackhide__ = True
        if error is None:
            facts, own = self._observation.facts(), self._observation
            failure = verdict(facts, len(self._before), self._limits, own.target, own.workspace)
            if failure is not None:
                raise failure
