"""The time from a change in a notebook to its squiggles, compared with a script.

The change is in the last cell, and the script is the same program. The server runs as in an editor, and talks
over standard input and output. Notebook and script are saved in turn, so that both are measured under the
same load.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from support.client import session
from support.measure import HERE, SMALL

sys.path[:0] = [str(HERE.parent / "tests" / "e2e" / "support")]

from lsp_notebook import Notebook  # noqa: E402
from lsp_session import Editor  # noqa: E402

CELLS = 20 if SMALL else 100
COMPILED = 10
"""Every so many cells, one compiles a function with a graph break."""
WARMING = 0 if SMALL else 2
"""Runs that are not counted: by them the server learns what the program imports."""
TARGET = 1.5
BREAK = '    print("layer")\n'


def cells() -> list[str]:
    """The cells of a notebook; the last one compiles a function."""
    made = ["%matplotlib inline\nimport torch"]
    for number in range(2, CELLS + 1):
        lines = "".join(f"    x = x + {number} * {row}\n" for row in range(20))
        if number % COMPILED:
            made.append(f"def plain{number}(x):\n{lines}    return x\n\nplain{number}({number})")
        else:
            compiled = f"@torch.compile\ndef layer{number}(x):\n    x = x.sin()\n{BREAK}    return x * 2\n"
            made.append(f"{compiled}\nlayer{number}(torch.ones({number}))")
    return made


async def main(runs: int) -> None:
    """Measure both, and print the ratio."""
    once = cells()
    others = CELLS // COMPILED - 1
    twice = [*once[:-1], once[-1].replace(BREAK, BREAK * 2)]
    program = "\n".join(once).replace("%matplotlib", "#matplotlib")
    times: dict[str, list[float]] = {"notebook": [], "script": []}
    with tempfile.TemporaryDirectory() as folder:
        async with session(program) as script, session(program) as beside:
            notebook = Notebook(beside.editor, Path(folder, "model.ipynb"), *once)
            last = notebook.cell(CELLS - 1)
            await script.run()
            await beside.editor.command("fullgraph.run", last)
            for number in range(-WARMING, runs):
                texts = once if number % 2 else twice
                breaks = texts[-1].count(BREAK)
                text = "\n".join(texts).replace("%matplotlib", "#matplotlib")

                def edit_notebook(text: str = texts[-1]) -> None:
                    notebook.edit(CELLS - 1, text)
                    notebook.save()

                def edit_script(text: str = text) -> None:
                    script.edit(text)
                    script.save()

                own = await squiggles(beside.editor, last, edit_notebook, breaks)
                theirs = await squiggles(script.editor, script.uri, edit_script, breaks + others)
                if number >= 0:
                    times["notebook"].append(own)
                    times["script"].append(theirs)
    ours, theirs = (statistics.median(column) for column in times.values())
    print(
        f"change in the last of {CELLS} cells to its squiggles: {ours * 1000:.0f} ms, as a script "
        f"{theirs * 1000:.0f} ms, ratio {ours / theirs:.2f} (target <= {TARGET}, medians of {runs})"
    )


async def squiggles(editor: Editor, uri: str, edit: Callable[[], None], breaks: int) -> float:
    """Edit and save; return the seconds until the next run shows ``breaks`` breaks."""
    before = max(item.data["generation"] for item in editor.shown(uri).diagnostics)
    started = perf_counter()
    edit()

    def is_right() -> bool:
        found = editor.shown(uri).diagnostics
        return len(found) == breaks and all(item.data["generation"] > before for item in found)

    await editor.until(is_right)
    seconds = perf_counter() - started
    await editor.until(lambda: getattr(editor.statuses[-1], "state", "") == "finished")
    return seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1 if SMALL else 20)
    asyncio.run(main(parser.parse_args().runs))
