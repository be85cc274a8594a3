"""Time and memory to list the problems of a log, compared with tlparse.

The problems are breaks and recompilations. The log is that of a real program, repeated, with new compile ids
each time. Then come the logs of 64 ranks, one of which was made to differ.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from support.measure import SMALL, Cost, cost, python
from support.trace_logs import add_compilation, grow, recorded

SIZES = (1,) if SMALL else (50, 100, 200, 400)
"""Megabytes."""
COMPARED = 1 if SMALL else 200
RANKS, RANK_MB, ODD = (3, 1, 1) if SMALL else (64, 5, 37)
RUNS = 1 if SMALL else 3


def ours(log: Path, cwd: Path) -> Cost:
    """The list of breaks and recompilations, as text."""
    return cost([str(Path(python()).with_name("fullgraph")), "trace", str(log)], cwd)


def peer(log: Path, cwd: Path) -> Cost:
    """The same of tlparse, which tells them in pages, with all else."""
    command = [str(Path(python()).with_name("tlparse")), str(log), "-o", str(cwd / "tl"), "--overwrite"]
    return cost([*command, "--no-browser"], cwd)


def middle(costs: Sequence[Cost]) -> Cost:
    """The one of median time."""
    return sorted(costs, key=lambda item: item.seconds)[len(costs) // 2]


def compare_sizes(log: bytes, folder: Path) -> None:
    """Print the cost of each size; of one of them beside tlparse's."""
    for size in SIZES:
        path = folder / "large.log"
        copies = grow(log, size * 1_000_000, path)
        actual = path.stat().st_size
        pairs = [(ours(path, folder), peer(path, folder) if size == COMPARED else None) for _ in range(RUNS)]
        mine = middle([pair[0] for pair in pairs])
        print(
            f"{actual / 1e6:.0f} MB ({copies} times a real log): {mine.seconds:.2f} s, "
            f"{actual / 1e6 / mine.seconds:.0f} MB/s, peak {mine.memory / 1e6:.0f} MB, "
            f"{mine.memory / actual:.0%} of the log"
        )
        theirs = [pair[1] for pair in pairs if pair[1]]
        if theirs:
            other = middle(theirs)
            print(
                f"  tlparse: {other.seconds:.2f} s, peak {other.memory / 1e6:.0f} MB; "
                f"{other.seconds / mine.seconds:.1f} times as long (target >= 5.0, medians of {RUNS}), "
                f"{other.memory / mine.memory:.1f} times the memory"
            )
        path.unlink()


def read_ranks(log: bytes, folder: Path) -> None:
    """Print the time of the merged report of many ranks, and the rank that it names.

    It must name the rank that differs.
    """
    ranks = folder / "ranks"
    ranks.mkdir()
    grow(log, RANK_MB * 1_000_000, folder / "rank.log")
    usual = (folder / "rank.log").read_bytes()  # to the end: of logs that are cut off, less is compared
    (folder / "rank.log").unlink()
    for rank in range(RANKS):
        path = ranks / f"dedicated_log_torch_trace_rank_{rank}_a.log"
        path.write_bytes(add_compilation(usual) if rank == ODD else usual)
    begun = time.perf_counter()
    command = [str(Path(python()).with_name("fullgraph")), "trace", str(ranks)]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    seconds = time.perf_counter() - begun
    named = re.findall(r"rank-difference .* (on ranks? [^,]*)", told)
    print(f"{RANKS} ranks of {RANK_MB} MB: {seconds:.1f} s (target <= 10), different: {', '.join(named)}")
    if f"on rank {ODD}" not in named:
        sys.exit(f"rank {ODD} was made to differ, and is not named")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        log = recorded(place)
        compare_sizes(log, place)
        read_ranks(log, place)
