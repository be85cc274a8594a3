"""Record recompilations that the program forbids and whose errors it catches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from ..compat import trace_compat
from ..facts import ProgramRaised
from .live import TraceListener
from .stacks import calling_stack


class RecompileErrors:
    """A recorder of the errors of forbidden recompilations.

    ``error_on_recompile`` and the stance ``fail_on_recompile`` forbid recompilations.
    """

    def __init__(self, listener: TraceListener) -> None:
        self._listener = listener
        self._told: list[ProgramRaised] = []
        trace_compat.watch_refusals(self._refused)

    def _refused(self, error: str, reasons: Sequence[str]) -> None:
        failures = self._listener.failures(reasons)
        stack = calling_stack(sys._getframe())
        self._told.append(ProgramRaised(error, "", stack, "\n".join(reasons), failures, caught=True))

    def caught(self, raised: Iterable[BaseException]) -> Iterator[ProgramRaised]:
        """Yield a fact for each error that the program caught.

        ``raised`` are the errors that ended the program; these were not caught.
        """
        left = [self._listener.refused(error) for error in raised]
        return (fact for fact in self._told if fact.failures not in left)
