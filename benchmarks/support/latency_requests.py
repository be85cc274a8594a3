"""Hovers and code lenses on a report with 5,000 guards, at rest and after an edit.

They are requested right after the edit.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from .client import Session, session, timed
from .measure import SMALL, p95_ms

REQUESTS = 10 if SMALL else 300
TARGET_MS = 20
ENTRIES = 2495
"""There are two guards for each, and some of the function's own."""
LOOP = "    for width in WIDTHS.values():"
PROGRAM = f"""\
import torch

WIDTHS = {{f"layer{{number}}": number % 7 for number in range({ENTRIES})}}


@torch.compile
def total_width(x):
    total = 0
{LOOP}
        total += width
    return x * total


total_width(torch.ones(2))
"""


async def guards(_runs: int) -> None:
    """Ask again and again; the 95th percentile of each kind of request."""
    async with session(PROGRAM) as editing:
        await editing.run()
        row, column = PROGRAM.splitlines().index(LOOP), LOOP.index("WIDTHS")
        lenses = " ".join(title for _, title, _ in await editing.editor.lenses(editing.uri))
        found = re.search(r"([\d,]+) guards", lenses)
        assert found, lenses
        requests: dict[str, Callable[[], Awaitable[Any]]] = {
            "hover": lambda: editing.editor.hover(editing.uri, row, column),
            "code lens": lambda: editing.editor.lenses(editing.uri),
        }
        for name, request in requests.items():
            assert await request(), f"there is no {name}"
            rest = [await timed(request()) for _ in range(REQUESTS)]
            edited = [await after_edit(editing, number, request) for number in range(REQUESTS)]
            print(
                f"{name}, {found[1]} guards: p95 {p95_ms(rest):.1f} ms, right after an edit "
                f"{p95_ms(edited):.1f} ms (target <= {TARGET_MS} ms)"
            )


async def after_edit(editing: Session, number: int, request: Callable[[], Awaitable[Any]]) -> float:
    """The seconds until a request is answered that comes right behind an edit."""
    editing.edit(f"{PROGRAM}# {number}\n")
    return await timed(request())
