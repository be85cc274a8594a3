"""A dry run of a model of 65 billion parameters: its time and its memory.

It measures how both grow with the number of layers. The peer is torch by itself: the same program under
``FakeTensorMode``, which reports nothing.
"""

from __future__ import annotations

from pathlib import Path

from support.measure import HERE, SMALL, Cost, cost, python

PROGRAM = HERE / "programs" / "large.py"
LAYERS = (1,) if SMALL else (20, 40, 80)
PEER = (
    "import runpy, sys; from torch._subclasses.fake_tensor import FakeTensorMode; "
    "sys.path.insert(0, sys.argv[1].rpartition('/')[0]); sys.argv = sys.argv[1:]\n"
    "with FakeTensorMode(): runpy.run_path(sys.argv[0], run_name='__main__')"
)


def ours(layers: int) -> Cost:
    """Graph breaks and guards, on the command line."""
    fullgraph = Path(python()).with_name("fullgraph")
    return cost([str(fullgraph), "check", str(PROGRAM), "--dry-run", "--", str(layers)], HERE)


if __name__ == "__main__":
    for layers in LAYERS:
        mine = ours(layers)
        print(f"{layers} layers: {mine.seconds:.1f} s, peak {mine.memory / 1e9:.2f} GB")
    theirs = cost([python(), "-c", PEER, str(PROGRAM), str(LAYERS[-1])], HERE)
    print(
        f"torch by itself, {LAYERS[-1]} layers: {theirs.seconds:.1f} s, peak {theirs.memory / 1e9:.2f} GB; "
        f"ours takes {mine.seconds / theirs.seconds:.2f} times as long (target <= 20 s and 3 GB)"
    )
