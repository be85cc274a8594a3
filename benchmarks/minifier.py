"""``fullgraph minify``, compared with torch's minifier, from cold caches.

Both minify the same failures. torch's minifier takes two runs: the program, with variables set, writes a
launcher, and the launcher minifies. Both times are from the start of the first process to the end of the
last. Fullgraph runs the repro once more to be sure.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from support.measure import HERE, SMALL, python

_FULLGRAPH = str(Path(python()).with_name("fullgraph"))
_PROGRAM = HERE / "programs" / ("one_relu.py" if SMALL else "three_layers.py")
_TARGET = 5.0


@dataclass(frozen=True)
class Minified:
    """What a minifier made of a failure; ``problem`` says why it made nothing."""

    seconds: float
    nodes: int = 0
    queries: int = 0
    problem: str = ""

    def __str__(self) -> str:
        if self.problem:
            return f"{self.seconds:.1f} s, no repro: {self.problem}"
        return f"{self.seconds:.1f} s, {self.nodes} nodes, {self.queries} queries"


def ours(fault: str, folder: Path) -> Minified:
    """Minify with Fullgraph."""
    command = [_FULLGRAPH, "minify", str(_program(fault, folder)), "-o", str(folder / "repro.py")]
    seconds, output = _timed(command, {}, folder)
    found = re.search(r"(\d+) of \d+ nodes, (\d+) queries.*still fails when run", output)
    if found is None:
        return Minified(seconds, problem=_last_line(output))
    return Minified(seconds, int(found[1]), int(found[2]))


def torchs(fault: str, after: str, folder: Path) -> Minified:
    """Minify with torch's minifier, after ``aot`` or ``dynamo``."""
    env = {
        "TORCHDYNAMO_REPRO_AFTER": after,
        "TORCHDYNAMO_REPRO_LEVEL": "4" if fault == "accuracy" else "2",
        "TORCH_COMPILE_DEBUG_DIR": str(folder),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
    }
    first, output = _timed([python(), str(_program(fault, folder))], env, folder)
    launcher = next(folder.rglob("minifier_launcher.py"), None)
    if launcher is None:
        return Minified(first, problem=_last_line(output))
    second, output = _timed([python(), str(launcher)], env, launcher.parent)
    queries = re.findall(r"Made (\d+) queries", output)
    repro = next((path for path in folder.rglob("repro.py") if "checkpoints" not in path.parts), None)
    if not queries or repro is None:
        return Minified(first + second, problem=_last_line(output))
    return Minified(first + second, _nodes(repro.read_text()), int(queries[-1]))


def _program(fault: str, folder: Path) -> Path:
    """Return the program with this fault, in a new project.

    Nothing in the project is left from another run.
    """
    path = folder / "project" / _PROGRAM.name
    path.parent.mkdir()
    path.write_text(_PROGRAM.read_text().replace("compile_error", fault))
    (path.parent / "pyproject.toml").write_text("[project]\nname = 'minified'\n")
    return path


def _nodes(repro: str) -> int:
    graph = repro.partition("def forward(")[2].partition("return ")[0]
    return len(re.findall(r"^ +\w+ = (?!.*getitem)\S.*\(", graph, re.MULTILINE))


def _timed(command: list[str], env: dict[str, str], cwd: Path) -> tuple[float, str]:
    started = time.perf_counter()
    ended = subprocess.run(
        command, env={**os.environ, **env}, cwd=cwd, capture_output=True, text=True, check=False
    )
    return time.perf_counter() - started, ended.stdout + ended.stderr


def _last_line(output: str) -> str:
    errors = re.findall(r"^\w*(?:Error|Exception).*", output, re.MULTILINE)
    return (errors or output.strip().splitlines() or ["nothing was printed"])[-1][:100]


def _compare(fault: str, after: str) -> float:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        mine, peer = ours(fault, Path(one)), torchs(fault, after, Path(other))
    if mine.problem:
        sys.exit(f"{fault}: {mine}")
    ratio = peer.seconds / mine.seconds
    print(f"{fault}, {_PROGRAM.stem}: {mine}\n    torch's, after {after}: {peer}")
    print(f"    ratio {ratio:.1f} x")
    return ratio


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    ratios = [_compare("compile_error", "dynamo" if SMALL else "aot") for _ in range(runs)]
    if not SMALL:
        _compare("accuracy", "aot")
        _compare("accuracy", "dynamo")
    print(f"compile_error: median {statistics.median(ratios):.1f} x, target at least {_TARGET:.0f} x")
