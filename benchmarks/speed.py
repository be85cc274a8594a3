"""The result of ``fullgraph speed``, compared with calls timed by a plain loop.

The loop makes the same calls in its own process. For programs of ``tests/cases/speed``: the ratio of the
compiled times, and whether the parts add up.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from support.measure import HERE, SMALL, python

FULLGRAPH = str(Path(python()).with_name("fullgraph"))
CASES = HERE.parent / "tests" / "cases" / "speed"
CALLS = {
    "tiny_graph": "add_one(x)",
    "many_breaks": "forward(x)",
    "break_that_logs": "forward(x, w)",
    "guards_of_modules": "model(x)",
    "gather": "gather(x, index)",
    "bound_by_a_library": "compiled(x)",
}
PEER = """
import contextlib, io, runpy, statistics, sys, time, torch
code = compile(sys.argv.pop(), "call", "eval")
sys.argv.pop(0)  # the program has no arguments
values = runpy.run_path(sys.argv[0], run_name="__main__")
def samples(seconds):
    until, found = time.perf_counter() + seconds, []
    while time.perf_counter() < until or len(found) < 7:
        started = time.perf_counter()
        for _ in range(times):
            eval(code, values)
        found.append((time.perf_counter() - started) / times)
    return found
times = 1
with torch.set_grad_enabled("no_grad" not in open(sys.argv[0]).read()):  # as the program calls it
    times = max(1, int(0.01 / statistics.median(samples(0.5))))
    print(statistics.median(samples(3.0)))
"""


def main() -> None:
    """Measure each program in both ways."""
    for name, call in list(CALLS.items())[: 1 if SMALL else None]:
        program = CASES / f"{name}.py"
        ours = measured(program)
        peer = subprocess.run(
            [python(), "-c", PEER, str(program), call], capture_output=True, text=True, check=True
        )
        plain = float(peer.stdout.splitlines()[-1])
        parts = sum(part["seconds"] for part in ours["parts"]) / ours["compiled"]
        print(
            f"{name}: {ours['compiled'] * 1e6:.1f} us a call, by a plain loop {plain * 1e6:.1f} us: "
            f"{ours['compiled'] / plain:.3f} times (target 0.97 to 1.03); its parts add up to {parts:.1%}"
        )


def measured(program: Path) -> dict:
    """What `fullgraph speed` tells of a program."""
    command = [FULLGRAPH, "speed", str(program), "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(run.stdout)


if __name__ == "__main__":
    main()
