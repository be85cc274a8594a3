"""The engine of all runs: workers, and what they do for targets, within the limits of these.

The schedule of an editor, the command line, the tools for agents and proofs of edits have one each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..workers.pool import WorkerPool
from ..workers.settings import RunSettings
from .limits import WorkerRequest, with_limits
from .program_run import OnOutput, Run

if TYPE_CHECKING:
    from .plan import Plan


class Engine:
    """Makes runs in the workers of a pool. Close it."""

    def __init__(self, workers: WorkerPool | None = None) -> None:
        self._workers = workers or WorkerPool()

    def run(
        self,
        plan: Plan,
        request: WorkerRequest,
        on_output: OnOutput | None = None,
        libraries: Sequence[str] = (),
    ) -> Run:
        """Make a run of a request for a plan; ``libraries`` are what the target's program imports."""
        settings, limited = with_limits(plan.settings, request, plan.workspace.root)
        return Run(self._workers, settings, limited, libraries, on_output)

    def expect(self, settings: RunSettings, libraries: Sequence[str]) -> None:
        """Get ready for a run with settings, of a program that imports these libraries."""
        self._workers.expect(settings, libraries)

    async def close(self) -> None:
        """End every process."""
        await self._workers.close()
