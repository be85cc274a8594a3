"""What the benchmarks share: run commands in turn, and compare medians of one and the same run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent


def wall_seconds(command: Sequence[str], env: Mapping[str, str] | None = None) -> float:
    """The wall time of a command in a fresh process, in seconds, with cold compiler caches."""
    with tempfile.TemporaryDirectory() as caches:
        return cached_seconds(command, Path(caches), env)


def cached_seconds(command: Sequence[str], caches: Path, env: Mapping[str, str] | None = None) -> float:
    """The wall time of a command in a fresh process, in seconds, with the caches of earlier ones."""
    folders = {"TORCHINDUCTOR_CACHE_DIR": str(caches), "TRITON_CACHE_DIR": str(caches)}
    started = time.perf_counter()
    subprocess.run(command, env={**os.environ, **folders, **(env or {})}, check=True, capture_output=True)
    return time.perf_counter() - started


def compare(
    name: str, ours: Callable[[], float], peer: Callable[[], float], runs: int, target: float
) -> None:
    """Measure both ``runs`` times, alternating, and print the ratio of the medians."""
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
