"""Observation of a test's compilations by listening; the test compiles unchanged."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from fullgraph_compiler.compat import trace_compat
from fullgraph_compiler.facts import (
    Artifact,
    CacheKeyPart,
    CacheLookup,
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

from .limits import CompileLimits, limits_of
from .verdict import verdict

_NO_FINDINGS = (
    Artifact,
    CacheKeyPart,
    CacheLookup,
    CodeGenerated,
    GraphCaptured,
    GraphPart,
    PhasesTimed,
)
"""Types of facts that are dropped: no finding needs them, some are large, and caches differ by machine."""


class TestObservation:
    """The facts of the compilations in one test and its fixtures."""

    def __init__(self, target: Target, workspace: Workspace) -> None:
        self.target, self.workspace = target, workspace
        self._facts: list[Fact] = []
        self._begun: set[str] = set()
        self._listener = TraceListener(self._take)

    def listening(self) -> AbstractContextManager[None]:
        """Return a context manager that records facts while it is active."""
        return trace_compat.listening(self._listener)

    def part(self, *positional: Any, **named: Any) -> TestPart:
        """Return a context manager whose body is a part of the test with limits."""
        __tracebackhide__ = True
        return TestPart(self, limits_of(positional, named))

    def facts(self) -> tuple[Fact, ...]:
        """Return the facts so far."""
        self._listener.finish()
        return tuple(self._facts)

    def _take(self, facts: list[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, FrameStarted):
                self._begun.add(fact.compile_id)
            if not isinstance(fact, _NO_FINDINGS) and not self._is_of_others(fact):
                self._facts.append(fact)

    def _is_of_others(self, fact: Fact) -> bool:
        """Return whether a recompilation is due only to compilations of earlier tests."""
        failures = fact.failures if isinstance(fact, (Recompile, RecompileLimit)) else ()
        return bool(failures) and self._begun.isdisjoint(failure.compile_id for failure in failures)


class TestPart:
    """A part of a test, judged at its end unless its code raises an exception."""

    def __init__(self, observation: TestObservation, limits: CompileLimits) -> None:
        self._observation, self._limits = observation, limits
        self._begin = 0

    def __enter__(self) -> None:
        """Begin the part."""
        self._begin = len(self._observation.facts())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Judge the part, unless its code raised an exception.

        Raises :class:`.verdict.LimitExceededError` if the part exceeds its limits.
        """
        __tracebackhide__ = True
        if error is None:
            facts, own = self._observation.facts(), self._observation
            failure = verdict(facts, self._begin, self._limits, own.target, own.workspace)
            if failure is not None:
                raise failure
