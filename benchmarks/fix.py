"""``fullgraph fix --unsafe`` compared with ``fullgraph check``, on a toy and on programs as users write them.

The toy is that of the troubleshooting guide; the programs are in ``tests/cases/fixes``.
"""

import statistics
import tempfile
from pathlib import Path

from check_toy import FULLGRAPH
from support.measure import HERE, SMALL, TOY, cached_seconds, compare, wall_seconds

PROGRAMS = HERE.parent / "tests" / "cases" / "fixes"


def compared(program: Path, caches: Path) -> tuple[float, float]:
    """Print how long both commands take on a program; return the seconds of ``fix``, and the ratio."""
    fix, check = (seconds([*words, str(program)], caches) for words in (["fix", "--unsafe"], ["check"]))
    print(f"  {program.stem}: fix {fix:.1f} s, check {check:.1f} s, ratio {fix / check:.2f}")
    return fix, fix / check


def seconds(words: list[str], caches: Path) -> float:
    """Return the wall time of a command, whose exit code 1 says that findings are left."""
    return cached_seconds(["sh", "-c", '"$@" || test $? -eq 1', "sh", FULLGRAPH, *words], caches)


if __name__ == "__main__":
    compare(
        "fullgraph fix --unsafe toy.py / fullgraph check toy.py",
        ours=lambda: wall_seconds([FULLGRAPH, "fix", "--unsafe", str(TOY)]),
        peer=lambda: wall_seconds([FULLGRAPH, "check", str(TOY)]),
        runs=3,
        target=3.0,
    )
    programs = [] if SMALL else sorted(PROGRAMS.glob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        pairs = [compared(program, Path(folder)) for program in programs]
    if pairs:
        seconds, ratios = zip(*pairs, strict=True)
        print(f"median ratio {statistics.median(ratios):.2f} (target <= 2.00)")
        print(f"longest {max(seconds):.1f} s (target <= 60.0)")
