"""Runs of the command line that start no process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner, Result
from fullgraph_compiler.facts import Fact, MinifyRequest, RunFinished, RunRequest
from fullgraph_server.cli import main
from fullgraph_server.runs import engine
from fullgraph_server.workers.pool import WorkerPool
from fullgraph_server.workers.settings import RunSettings


def fullgraph(*words: str) -> Result:
    """Say these words to the command line."""
    return CliRunner().invoke(main, words)


class FakeRun:
    """Tells the facts that the test gives, and remembers what it was asked for."""

    facts: ClassVar[Sequence[Fact]] = ()
    writes: ClassVar[str] = ""
    """What a minification leaves in its output."""
    status: ClassVar[str] = "finished"
    asked: ClassVar[list[tuple[RunSettings, Any]]] = []
    on_execute: ClassVar[Callable[[], None] | None] = None

    def __init__(
        self,
        _: WorkerPool,
        settings: RunSettings,
        request: RunRequest | MinifyRequest,
        *_rest: object,
        **_named: object,
    ) -> None:
        self.torch = "2.13.0"
        self.asked.append((settings, request))
        if isinstance(request, MinifyRequest) and self.writes:
            Path(request.output).write_text(self.writes)
        self._cancelled = asyncio.Event()

    async def execute(self, on_facts: Callable[[Sequence[Fact]], None]) -> None:
        if self.facts:
            on_facts(self.facts)
        status = self.status
        if type(self).on_execute:
            type(self).on_execute()  # type: ignore[misc]
            await self._cancelled.wait()
            status = "cancelled"
        on_facts((RunFinished(status, 0.5, 0 if status == "finished" else None),))  # type: ignore[arg-type]

    def cancel(self) -> None:
        self._cancelled.set()


def enter_project(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> Path:
    """Make a folder a project with a program ``a.py``, and the current folder."""
    (folder / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (folder / "a.py").write_text(program)
    monkeypatch.chdir(folder)
    return folder


def fake_runs(monkeypatch: pytest.MonkeyPatch) -> type[FakeRun]:
    """Put fake runs in the place of real ones; they begin with nothing to tell."""
    monkeypatch.setattr(engine, "WorkerRun", FakeRun)
    for name, value in {
        "facts": (),
        "writes": "",
        "status": "finished",
        "asked": [],
        "on_execute": None,
    }.items():
        monkeypatch.setattr(FakeRun, name, value)
    return FakeRun
