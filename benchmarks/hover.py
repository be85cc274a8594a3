"""What a hover costs when a report has 5,000 guards, beside the same function in a report of 100.

Both are answered from finished reports in this process; the 95th percentile of 1,000 hovers each.
"""

import statistics
import time

from fullgraph_server.engine.report import FrameReport, Guard, Report
from fullgraph_server.features.hover import describe
from fullgraph_server.features.projection import project
from fullgraph_server.workspace.source import SourceFile

FILE = "/project/model.py"
LINE = "    return x.part.a + x"
HOVERS = 1000
TARGET_MS = 20


def p95_ms(functions: int) -> float:
    """Milliseconds at the 95th percentile, with 100 guards for each of so many functions."""
    text = "".join(f"def f{number}(x):\n{LINE}\n" for number in range(functions))
    frames = tuple(
        FrameReport(f"f{number}", FILE, 2 * number + 1, guards=tuple(map(guard, range(100))))
        for number in range(functions)
    )
    projection = project(
        FILE, [Report("model", 1, "2.13", "finished", frames=frames)], SourceFile(FILE, text)
    )
    seconds = []
    for hover in range(HOVERS):
        begun = time.perf_counter()
        assert describe(projection, FILE, LINE, 2 * (hover % functions) + 2, 12)
        seconds.append(time.perf_counter() - begun)
    return statistics.quantiles(seconds, n=20)[-1] * 1000


def guard(number: int) -> Guard:
    """A guard on a part of ``x``."""
    return Guard(f"L['x'].part['{number}']", "EQUALS_MATCH", "1", f"x.part['{number}'] == 1", "0/0", None)


if __name__ == "__main__":
    large, small = p95_ms(50), p95_ms(1)
    few = f"100 guards {small:.3f} ms, ratio {large / small:.2f}"
    print(f"hover, 5,000 guards: p95 {large:.3f} ms (target <= {TARGET_MS} ms), {few}")
