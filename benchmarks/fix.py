"""``fullgraph fix --unsafe`` on a toy program, compared with ``fullgraph check``.

The toy is that of the troubleshooting guide.
"""

from check_toy import FULLGRAPH
from support.measure import TOY, compare, wall_seconds

if __name__ == "__main__":
    compare(
        "fullgraph fix --unsafe toy.py / fullgraph check toy.py",
        ours=lambda: wall_seconds([FULLGRAPH, "fix", "--unsafe", str(TOY)]),
        peer=lambda: wall_seconds([FULLGRAPH, "check", str(TOY)]),
        runs=3,
        target=3.0,
    )
