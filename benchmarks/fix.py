"""``fullgraph fix`` on the troubleshooting guide's toy, beside ``fullgraph check``: both fixes are proven."""

from check_toy import FULLGRAPH, TOY
from measure import compare, wall_seconds

if __name__ == "__main__":
    compare(
        "fullgraph fix toy.py / fullgraph check toy.py",
        ours=lambda: wall_seconds([FULLGRAPH, "fix", TOY]),
        peer=lambda: wall_seconds([FULLGRAPH, "check", TOY]),
        runs=3,
        target=3.0,
    )
