"""Requests while logs are read that were made to hurt whoever reads them."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from .client import Session, session, timed
from .measure import HERE, SMALL, TOY, p95_ms

sys.path.append(str(HERE.parent / "tests" / "server" / "support"))

from hostile_logs import finished, frame, record, started, strings

TARGET_MS = 100
SIZE = 1 << 17 if SMALL else 2 << 20
REST = 10 if SMALL else 200


def breaks() -> str:
    """As many findings as there can be, each with a long reason and a long stack."""
    stack = {"stack": [frame(row) for row in range(1, 200)]}
    one = "".join(
        record("dynamo_start", stack, frame_id=number)
        + record("@dynamo_graph_break_reason", payload=f"reason {number}\n" + "x" * 3000, frame_id=number)
        for number in range(SIZE // 20_000)
    )
    return strings() + one + started() + finished()


def guards() -> str:
    """Guards on as many values."""
    tree = "".join(
        f"+- GuardManager: source=L['v{number}'], x\n| +- A: L['v{number}'] == {number}\n"
        for number in range(SIZE // 60)
    )
    return strings() + started() + record("dynamo_cpp_guards_str", payload=tree) + finished()


def frames() -> str:
    """As many compiled functions."""
    one = (
        record("dynamo_start", {"stack": [frame(number % 90 + 1, f"f{number}")]}, frame_id=number)
        + record("@dynamo_graph_break_reason", payload=f"reason {number}", frame_id=number)
        for number in range(SIZE // 300)
    )
    return strings() + "".join(one) + started() + finished()


def reasons() -> str:
    """As many recompilations, each with its reasons."""
    log = strings() + started() + finished()
    for number in range(1, SIZE // 600):
        payload = f"[\"0/0: L['v{number}'] == {number}\"]"
        log += started(number) + record("@recompile_reasons", payload=payload, frame_compile_id=number)
        log += finished(number)
    return log


async def logs(_runs: int) -> None:
    """Request hovers while a log is read and shown; print the longest wait."""
    async with session(TOY.read_text("utf-8")) as editing:
        await editing.run()
        rest = [await answered(editing) for _ in range(REST)]
        with tempfile.TemporaryDirectory() as folder:
            for made in [write(Path(folder), make) for make in (breaks, guards, frames, reasons)]:
                reading = asyncio.ensure_future(editing.editor.command("fullgraph.readTrace", str(made)))
                waited = [await answered(editing)]
                while not reading.done():
                    waited.append(await answered(editing))
                waited.append(await answered(editing))
                assert (await reading)["status"] == "finished"
                longest = max(waited)
                print(
                    f"hover while a log of {SIZE / (1 << 20):g} MB of {made.stem} is read: "
                    f"{longest * 1000:.0f} ms at most (target <= {TARGET_MS} ms, of {len(waited)} hovers), "
                    f"{longest * 1000 / p95_ms(rest):.1f} times p95 at rest"
                )


def write(folder: Path, make: Callable[[], str]) -> Path:
    """A log with the name of what makes it."""
    log = folder / f"{make.__name__}.log"
    log.write_text(make(), "utf-8")
    return log


async def answered(editing: Session) -> float:
    """The seconds that a hover takes."""
    return await timed(editing.editor.hover(editing.uri, 8, 4))
