"""The time until a user can read the code of a program's kernels.

The server runs as in an editor. The time is from the request, with a warm worker, until each text has been
read. The peer is a fresh ``TORCH_COMPILE_DEBUG=1 python FILE``, which writes the texts to a folder.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from time import perf_counter

from lsprotocol import types
from support.client import Session, session
from support.measure import SMALL, TOY, python, wall_seconds

_PROGRAM = TOY.read_text("utf-8").replace('(backend="aot_eager")', "")
_RUNS = 1 if SMALL else 5
_WARMING = 0 if SMALL else 2
"""Runs that are not counted: by them the server learns what the program imports."""
_READY_SECONDS = 0.0 if SMALL else 4.0
"""Between two requests, until a worker is warm again: a person reads for longer."""
_FIRST_SECONDS = 120
_TARGET = 1.0


async def read_kernels(editing: Session) -> tuple[float, int]:
    """Request a program's kernels and read them all; return seconds and their number."""
    editor, started = editing.editor, perf_counter()
    summary = await asyncio.wait_for(editor.begin("fullgraph.kernels", editing.uri), _FIRST_SECONDS)
    report = await editor.ask("fullgraph/report", target=summary["target"])
    for item in report["kernels"]:
        await editor.workspace_text_document_content_async(types.TextDocumentContentParams(item["uri"]))
    assert report["kernels"], "there are none"
    return perf_counter() - started, len(report["kernels"])


async def main(runs: int) -> None:
    """Measure both in turn, and print the ratio of their medians."""
    ours, theirs, documents = [], [], 0
    async with session(_PROGRAM) as editing:
        for number in range(-_WARMING, runs):
            seconds, documents = await read_kernels(editing)
            await asyncio.sleep(_READY_SECONDS)
            if number < 0:
                continue
            ours.append(seconds)
            with tempfile.TemporaryDirectory() as folder:
                env = {"TORCH_COMPILE_DEBUG": "1", "TORCH_COMPILE_DEBUG_DIR": folder}
                theirs.append(await asyncio.to_thread(wall_seconds, [python(), str(editing.file)], env))
    mine, peer = statistics.median(ours), statistics.median(theirs)
    print(
        f"kernels of the toy: {mine:.2f} s for {documents} documents (target <= {_TARGET:.0f} s), "
        f"peer {peer:.1f} s, {peer / mine:.0f} times faster (medians of {runs})"
    )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else _RUNS))
