"""How long a person waits for Fullgraph in an editor, and without it.

The server runs as in an editor, and talks over standard input and output. The peer is a fresh
``TORCH_LOGS=graph_breaks python FILE``. Name parts to run only these.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

from support.client import Session, session
from support.latency_logs import logs
from support.latency_requests import guards
from support.latency_storm import storm
from support.measure import HERE, SMALL, TOY, cached_seconds, python, wall_seconds

LLAMA = HERE / "programs" / "llama.py"
RUNS_FOR_EACH_PEER = 4
THOUGHT = 1.0
"""Seconds between one save and the next: nobody saves again at once."""
WARMING = 0 if SMALL else 2
"""Runs that are not counted: by them the server learns what the program imports."""
FUNCTIONS = 3 if SMALL else 20
SHARE, REST = 1.15, 0.15
"""What a save may take: so many times what torch counts as compilation, and so many seconds."""
PLAIN = """
import runpy, sys, torch._dynamo.utils
from fullgraph_compiler.compat import backend_compat
from fullgraph_compiler.worker import imports
imports.warm_up()
torch._dynamo.utils.clear_compilation_metrics()
backend_compat.stop_after_aot()
runpy.run_path(sys.argv[1], run_name="__main__")
print(sum(each.entire_frame_compile_time_s for each in torch._dynamo.utils.get_compilation_metrics()))
"""
"""A program, compiled as far as a save compiles it by a process as warm, which prints what torch counts."""


async def toy(runs: int) -> None:
    """Save to squiggles for the program of the troubleshooting guide."""
    await save_to_squiggles("toy", TOY, '    print("woo")\n', runs, "target <= 300 ms, ")


async def llama(runs: int) -> None:
    """Save to squiggles for a model of transformers."""
    await save_to_squiggles("Llama", LLAMA, '    print("step")\n', runs, "")


async def save_to_squiggles(name: str, program: Path, line: str, runs: int, target: str) -> None:
    """Save a line that breaks the graph twice, then one that breaks it once, in turn.

    The line is saved once a second. The times are printed.
    """
    once, twice = once_and_twice(program, line)
    command, env = [python(), str(program)], {"TORCH_LOGS": "graph_breaks"}
    first, right, cold, warm = [], [], [], []
    whole, counted, plain = [], [], []
    with tempfile.TemporaryDirectory() as caches:
        await asyncio.to_thread(cached_seconds, command, Path(caches), env)
        async with session(once) as editing:
            await editing.run()
            for number in range(-WARMING, runs):
                await asyncio.sleep(THOUGHT)
                told, complete, over = await squiggles(editing, once if number % 2 else twice)
                if number >= 0:
                    first.append(told)
                    right.append(complete)
                    whole.append(over)
                    counted.append(await compile_seconds(editing))
                if number >= 0 and number % RUNS_FOR_EACH_PEER == 0:
                    cold.append(await asyncio.to_thread(wall_seconds, command, env))
                    warm.append(await asyncio.to_thread(cached_seconds, command, Path(caches), env))
                    plain.append(await asyncio.to_thread(plain_compile_seconds, editing.file))
    told, ours, theirs, cached = (statistics.median(times) for times in (first, right, cold, warm))
    print(
        f"save to squiggles, {name}: {ours * 1000:.0f} ms ({target}first finding {told * 1000:.0f} ms), "
        f"peer {theirs:.1f} s, {theirs / ours:.1f} times faster (target >= 10, medians of {runs} and "
        f"{len(cold)}), with its compiler caches warm {cached:.1f} s, {cached / ours:.1f} times"
    )
    over, compiling, unobserved = (statistics.median(times) for times in (whole, counted, plain))
    limit = SHARE * compiling + REST
    met = sum(seconds <= SHARE * its + REST for seconds, its in zip(whole, counted, strict=True))
    print(
        f"save to complete report, {name}: {over * 1000:.0f} ms, {over / compiling:.2f} times the "
        f"{compiling * 1000:.0f} ms that torch counts for its compilations (target <= {SHARE} times + "
        f"{REST * 1000:.0f} ms = {limit * 1000:.0f} ms, met by {met} of {runs} saves); without Fullgraph, "
        f"torch counts {unobserved * 1000:.0f} ms"
    )


def once_and_twice(program: Path, line: str) -> tuple[str, str]:
    """The text of a program, and the same with one of its lines doubled."""
    text = program.read_text("utf-8")
    return text, text.replace(line, line * 2)


async def compile_seconds(editing: Session) -> float:
    """The seconds that torch itself counts for the compilations of the newest run."""
    found = await editing.editor.ask("fullgraph/performance", target=editing.uri)
    return sum(compilation["seconds"] for compilation in found["compilations"])


def plain_compile_seconds(program: Path) -> float:
    """The same where nobody observes."""
    done = subprocess.run([python(), "-c", PLAIN, program], check=True, capture_output=True, text=True)
    return float(done.stdout.splitlines()[-1])


async def squiggles(editing: Session, text: str) -> tuple[float, float, float]:
    """Edit and save; return the seconds to the first findings, to all, and to the end.

    The findings are those of the run that the save starts; the end is that of this run.
    """
    before = editing.newest
    editing.edit(text)
    editing.save()
    started = perf_counter()
    await editing.editor.until(lambda: editing.newest > before)
    told = perf_counter() - started
    await editing.editor.until(lambda: editing.newest > before and editing.is_right())
    complete = perf_counter() - started
    await editing.at_rest()
    return told, complete, perf_counter() - started


async def files(runs: int) -> None:
    """What it costs a run to have files of its own."""
    text = TOY.read_text("utf-8")
    seconds: dict[str, list[float]] = {"keep": [], "discard": []}
    async with session(text) as editing:
        for number in range(-WARMING, runs):
            for choice, times in seconds.items():
                editing.editor.set_configuration({"fullgraph": {"files": choice}})
                await asyncio.sleep(THOUGHT)
                started = perf_counter()
                await editing.run()
                if number >= 0:
                    times.append(perf_counter() - started)
    kept, discarded = (statistics.median(times) for times in seconds.values())
    print(
        f"files discarded: a run of {discarded * 1000:.0f} ms, with files kept {kept * 1000:.0f} ms: "
        f"{(discarded - kept) * 1000:.0f} ms more (target <= 20 ms), {discarded / kept:.2f} times "
        f"(medians of {runs})"
    )


async def early(runs: int) -> None:
    """When the first finding of a long program appears, as a share of its run."""
    functions = "".join(
        f"\n\n@torch.compile\ndef layer{number}(x):\n    x = torch.relu(x @ x.T + {number})\n"
        f'    print("layer {number}")\n    return torch.softmax(x, -1).sum()\n'
        for number in range(FUNCTIONS)
    )
    calls = "".join(f"layer{number}(torch.randn(8, 8))\n" for number in range(FUNCTIONS))
    shares, seconds = [], []
    async with session(f"import torch\n{functions}\n\n{calls}") as editing:
        for number in range(-WARMING, runs):
            before = editing.newest
            started = perf_counter()
            run = asyncio.ensure_future(editing.run())
            await editing.editor.until(lambda before=before: editing.newest > before)
            told = perf_counter() - started
            await run
            assert editing.is_right(), "a finding is missing"
            if number >= 0:
                seconds.append(perf_counter() - started)
                shares.append(told / seconds[-1])
    print(
        f"first finding of {FUNCTIONS} functions: after {statistics.median(shares):.0%} of the run of "
        f"{statistics.median(seconds) * 1000:.0f} ms (target <= 25%, medians of {runs})"
    )


PARTS: dict[str, Callable[[int], Awaitable[None]]] = {
    part.__name__: part for part in (toy, llama, files, early, storm, guards, logs)
}
SLOW = ("llama",)
"""Parts that have no small input."""


async def main() -> None:
    """Run all parts, or those that are named."""
    parser = argparse.ArgumentParser(description="How long a person waits for Fullgraph in an editor.")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=1 if SMALL else 20)
    arguments = parser.parse_args()
    for name in arguments.parts or [name for name in PARTS if not SMALL or name not in SLOW]:
        await PARTS[name](arguments.runs)


if __name__ == "__main__":
    asyncio.run(main())
