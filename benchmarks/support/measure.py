"""Run commands in turn, and compare the medians of one run.

``--small`` makes any benchmark measure once, on its smallest input: the tests start each one so.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[1]
"""The folder of the benchmarks."""
SMALL = "--small" in sys.argv
if SMALL:
    sys.argv.remove("--small")
TOY = HERE / "programs" / "small_toy.py" if SMALL else HERE.parent / "examples" / "toy.py"

os.environ.setdefault("FULLGRAPH_WARM", "0")  # every command is measured in fresh processes


def wall_seconds(command: Sequence[str], env: Mapping[str, str] | None = None) -> float:
    """Return a command's wall time in a fresh process, in seconds, with cold caches.

    The caches are those of the compiler.
    """
    with tempfile.TemporaryDirectory() as caches:
        return cached_seconds(command, Path(caches), env)


def cached_seconds(command: Sequence[str], caches: Path, env: Mapping[str, str] | None = None) -> float:
    """Return a command's wall time in a fresh process, in seconds, with warm caches.

    The caches in ``caches`` are those that earlier commands left.
    """
    folders = {"TORCHINDUCTOR_CACHE_DIR": str(caches), "TRITON_CACHE_DIR": str(caches)}
    started = time.perf_counter()
    subprocess.run(command, env={**os.environ, **folders, **(env or {})}, check=True, capture_output=True)
    return time.perf_counter() - started


def compare(
    name: str, ours: Callable[[], float], peer: Callable[[], float], runs: int, target: float
) -> None:
    """Measure both ``runs`` times, alternating, and print the ratio of the medians."""
    runs = 1 if SMALL else runs
    pairs = [(ours(), peer()) for _ in range(runs)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = f"ratio {mine / theirs:.2f} (target <= {target:.2f}, medians of {runs})"
    print(f"{name}: {mine:.2f} s, peer {theirs:.2f} s, {ratio}")


def p95_ms(seconds: Sequence[float]) -> float:
    """The 95th percentile of times, in milliseconds."""
    return statistics.quantiles(seconds, n=20)[-1] * 1000


def python() -> str:
    """The interpreter that both sides use."""
    return sys.executable


@dataclass(frozen=True)
class Cost:
    """Of a command: wall time, and the peak of its memory, in bytes."""

    seconds: float
    memory: int


def cost(command: Sequence[str], cwd: Path) -> Cost:
    """Run a command in a fresh process; what it prints is of no interest."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} failed")
    return Cost(time.perf_counter() - begun, used.ru_maxrss * 1024)
