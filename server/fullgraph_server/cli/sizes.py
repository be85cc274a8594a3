"""The command that searches for calls of ``mark_dynamic``, and tries new sizes.

With these calls, the target's functions are compiled once.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import click
from fullgraph_compiler.facts import AddedSizes, SizeTried

from ..fixes.prover import EditProver
from ..fixes.sizes import dynamic_sources, find_sizes
from ..runs.effective_settings import SettingOverrides
from ..workspace.targets import Target
from ..workspace.workspace import Workspace
from .fix import written
from .formats.sizes import SizesFormat, TargetSizes
from .session import NOT_STARTED, CommandSession, workspace_root

_LARGEST: Final = (1 << 63) - 1
_LEFT: Final = 1


def parse_sizes(texts: Sequence[str]) -> list[AddedSizes]:
    """Parse sizes like ``x.0=1,2,7``. Raises ``click.UsageError``."""
    found = []
    for text in texts:
        left, _, right = text.partition("=")
        place, _, dimension = left.strip().rpartition(".")
        listed = [item.strip() for item in right.split(",")]
        if not place[:1].isidentifier() or not all(item.isdecimal() for item in (dimension, *listed)):
            raise click.UsageError(
                f"--sizes {text!r} is not a list of sizes: write NAME.DIMENSION=SIZE,SIZE as in x.0=1,2,7."
            )
        sizes = tuple(dict.fromkeys(map(int, listed)))
        if max(sizes) > _LARGEST:
            raise click.UsageError(f"--sizes {text!r} has a size that no tensor can have.")
        found.append(AddedSizes(place, int(dimension), sizes))
    return found


def size_target(
    target: Target,
    overrides: SettingOverrides,
    write: SizesFormat,
    added: Sequence[AddedSizes],
    *,
    apply: bool,
) -> int:
    """Search for a target's dynamic sizes, write the result; return the exit code."""
    with closing(CommandSession([target], "sizes", overrides)) as session:
        with tempfile.TemporaryDirectory(prefix="fullgraph-") as folder:
            search = partial(_search, target, added)
            sized = session.prove(target, Workspace(workspace_root(target)), Path(folder), search)
        if sized.found.unknown:
            raise click.UsageError(f"--sizes: {sized.found.unknown}.")
        if apply and sized.found.texts and not session.signalled:
            sized = sized.with_writing(refused(sized.found.last.sizes) or written(sized.found.texts))
        write(sized, sys.stdout)
    if not session.signalled and sized.found.base.report.status == "not-started":
        return NOT_STARTED
    return session.signalled or (0 if sized.is_sound and not sized.refusal else _LEFT)


def refused(tried: Sequence[SizeTried]) -> str:
    """Return why the plan must not be written, or ``""``.

    It must not be written if the program itself refuses a requested size.
    """
    item = next((item for item in tried if item.asked and item.outcome == "refused"), None)
    return f"nothing was written: the program itself refuses {item.place} = {item.size}" if item else ""


async def _search(target: Target, added: Sequence[AddedSizes], prover: EditProver) -> TargetSizes:
    found = await find_sizes(prover, added)
    return TargetSizes(target, found, await dynamic_sources(prover, found))
