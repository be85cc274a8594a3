"""The cost of a hover and of code lenses for reports of 5,000 and 100 guards.

Both are answered from finished reports in this process, on the text that ran and right after an edit of it.
The result is the 95th percentile of 1,000 requests each. The guards are of one function, or of fifty.
"""

import itertools
import statistics
import time
from collections.abc import Callable

from fullgraph_server.client.projection import FileView, project
from fullgraph_server.features.code_lens import summary
from fullgraph_server.features.hover import describe
from fullgraph_server.report.model import FrameReport, Guard, Report
from fullgraph_server.workspace.drift import TextDrift
from fullgraph_server.workspace.source import SourceFile
from support.measure import SMALL

FILE = "/project/model.py"
LINE = "    return x.part.a + x"
BODY = "".join(f"    y{number} = x + {number}\n" for number in range(40))
LINES = 42
"""Of a function."""
REQUESTS = 20 if SMALL else 1000
TARGET_MS = 20


class Program:
    """A file and the report of its run."""

    def __init__(self, functions: int, guards: int) -> None:
        self.functions = functions
        self.text = "".join(f"def f{number}(x):\n{BODY}{LINE}\n" for number in range(functions))
        self.ran = SourceFile(FILE, self.text)
        frames = tuple(
            FrameReport(
                f"f{number}", f"f{number}", FILE, LINES * number + 1, guards=tuple(map(guard, range(guards)))
            )
            for number in range(functions)
        )
        report = Report("model", 1, "2.13", "finished", frames=frames, files={FILE: self.ran})
        self.projection = project(report, FILE)
        self.edits = itertools.count()

    def view(self, edited: bool) -> FileView:
        """What a request reads; after an edit in the first and in the last function."""
        drift = TextDrift(self.ran, self.edited() if edited else self.ran)
        return FileView(FILE, [self.projection], lambda _report, _filename: drift)

    def edited(self) -> SourceFile:
        """The text after one more edit."""
        number = next(self.edits)
        first, last = self.text.index("x + 20"), self.text.rindex("x + 20")
        text = f"{self.text[:first]}x + {number}{self.text[first:last]}x + {number}{self.text[last:]}"
        return SourceFile(FILE, text)

    def hover(self, edited: bool) -> None:
        """A hover on a guarded name."""
        row = LINES * (next(self.edits) % self.functions + 1)
        assert describe(self.view(edited), LINE, row, 12)

    def lenses(self, edited: bool) -> None:
        """The lenses of every function."""
        shown = [(row, summary(function.frame)) for function, row in self.view(edited).functions()]
        assert len(shown) == self.functions


def guard(number: int) -> Guard:
    """A guard on a part of ``x``."""
    return Guard(f"L['x'].part['{number}']", "EQUALS_MATCH", "1", f"x.part['{number}'] == 1", "0/0", None)


def p95_ms(request: Callable[[bool], None], edited: bool) -> float:
    """Milliseconds at the 95th percentile."""
    seconds = []
    for _ in range(REQUESTS):
        begun = time.perf_counter()
        request(edited)
        seconds.append(time.perf_counter() - begun)
    return statistics.quantiles(seconds, n=20)[-1] * 1000


if __name__ == "__main__":
    peer = Program(1, 100)
    for functions, guards in ((1, 5000), (50, 100)):
        large = Program(functions, guards)
        for name, ours, theirs in (
            ("hover", large.hover, peer.hover),
            ("code lens", large.lenses, peer.lenses),
        ):
            for edited, when in ((False, ""), (True, " after an edit")):
                mine, few = p95_ms(ours, edited), p95_ms(theirs, edited)
                what = f"{name}{when}, {functions} x {guards:,} guards"
                print(
                    f"{what}: p95 {mine:.3f} ms (target <= {TARGET_MS} ms), "
                    f"100 guards {few:.3f} ms, ratio {mine / few:.2f}"
                )
