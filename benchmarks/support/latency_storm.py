"""Typing while runs are on: 200 edits in ten seconds (50 with ``--small``), with hovers all the time."""

from __future__ import annotations

import asyncio

from .client import Session, session, timed
from .measure import SMALL, TOY, p95_ms

NAME = "toy"
NAMED = f'import torch\n\nopen("/proc/self/comm", "w").write("{NAME}")\n'
PROGRAM = TOY.read_text("utf-8").replace("import torch\n", NAMED)
"""The program gives its process a name, by which it is told from one that waits for a program."""
LINE = '    print("woo")\n'
TYPED = "print(10)"
"""Typed in a new line below the other one: a graph break more, once it is there as a whole."""
TIMES, LEAST_RUNS = (5, 1) if SMALL else (20, 2)
EDITS = TIMES * (len(TYPED) + 1)
KEYSTROKE, PAUSE = 0.02, 0.32
"""Seconds after each character, and after the line, which its run has then."""
HOVER_SECONDS = 0.02
TARGET_MS = 20


async def storm(_runs: int) -> None:
    """Type, hover and watch the processes at once; then check all published findings."""
    async with session(PROGRAM, runOn="type") as editing:
        for _ in range(3):  # the pause after which it runs again depends on how long it took last time
            await editing.run()
        published, first = len(editing.editor.published), editing.newest
        typing = asyncio.create_task(type_lines(editing))
        hovers, alive, _ = await asyncio.gather(hover(editing, typing), most_alive(editing, typing), typing)
        await editing.editor.until(editing.is_right)
        check(editing, published)
        runs = editing.newest - first
    print(
        f"storm: {EDITS} edits, {runs} runs, no stale publish, at most {alive} alive at a time (target 1), "
        f"hover p95 {p95_ms(hovers):.1f} ms of {len(hovers)} (target <= {TARGET_MS} ms)"
    )
    assert alive == 1, "not one run at a time"
    assert runs >= LEAST_RUNS, "hardly any run came to its end"


async def type_lines(editing: Session) -> None:
    """Type a line and delete it, over and over."""
    for _ in range(TIMES):
        for length in range(1, len(TYPED) + 1):
            editing.edit(PROGRAM.replace(LINE, f"{LINE}    {TYPED[:length]}\n"))
            await asyncio.sleep(KEYSTROKE)
        await asyncio.sleep(PAUSE)
        editing.edit(PROGRAM)


async def hover(editing: Session, typing: asyncio.Task[None]) -> list[float]:
    """Hover over a definition fifty times a second, without waiting for answers."""
    row = next(row for row, line in enumerate(editing.text.splitlines()) if line.startswith("def "))
    answers = []
    while not typing.done():
        answers.append(asyncio.create_task(timed(editing.editor.hover(editing.uri, row, 5))))
        await asyncio.sleep(HOVER_SECONDS)
    return await asyncio.gather(*answers)


async def most_alive(editing: Session, typing: asyncio.Task[None]) -> int:
    """The most runs that were seen at a time."""
    most = 0
    while not typing.done():
        most = max(most, await asyncio.to_thread(editing.alive, NAME))
        await asyncio.sleep(HOVER_SECONDS)
    return most


def check(editing: Session, start: int) -> None:
    """Assert that neither text versions nor generations of findings go back."""
    version = generation = 0
    for params in editing.editor.published[start:]:
        generations = {item.data["generation"] for item in params.diagnostics} or {generation}
        assert len(generations) == 1, "old findings beside new ones"
        assert generation <= max(generations), "findings of a run before the last one"
        assert version <= params.version, "an older version of the text"
        version, generation = params.version, max(generations)
