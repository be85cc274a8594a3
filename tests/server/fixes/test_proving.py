"""Proofs in tests (``tests/proving.py``) do not pass over runs that Fullgraph did not make."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn, cast

import pytest
from fullgraph_server.fixes.experiments import ExperimentState
from fullgraph_server.fixes.model import Edit, Fix
from fullgraph_server.report.model import Finding
from fullgraph_server.runs.engine import RunEngine
from fullgraph_server.workers.pool import WorkerPool
from fullgraph_server.workers.warm_pool import StartError
from fullgraph_server.workspace.positions import Span
from proving import Proving


class _NoWorkers:
    """A pool whose workers do not start."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def expect(self, *_: object) -> None:
        pass

    async def take(self, *_: object) -> NoReturn:
        raise self._error

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("error", [FileNotFoundError("/tmp/fullgraph-1/3"), StartError("no Python")], ids=str)
def test_a_proof_without_runs_fails_instead_of_not_verifying(error: Exception, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("x = 1\n")
    span = Span(str(path), 1, 1, 2, 1)
    wrong = Fix("wrong", "", "", "safe", "", (Edit(span, "x = 2\n"),))

    def finding(_: ExperimentState) -> Finding:
        return Finding("graph-break", "GB0000", "warning", "none", span)

    proving = Proving(RunEngine(cast("WorkerPool", _NoWorkers(error))))
    try:
        with pytest.raises(AssertionError, match=str(error)):
            proving.prove(path, finding, lambda _: [wrong])
    finally:
        proving.close()
