"""``fullgraph check`` on the troubleshooting guide's toy, beside ``TORCH_LOGS=graph_breaks python toy.py``.

Both start fresh processes with cold caches; the peer runs the program as it is, with TorchInductor.
"""

from pathlib import Path

from measure import HERE, compare, python, wall_seconds

FULLGRAPH = str(Path(python()).with_name("fullgraph"))
TOY = str(HERE.parent / "examples" / "toy.py")

if __name__ == "__main__":
    compare(
        "fullgraph check toy.py / TORCH_LOGS=graph_breaks python toy.py",
        ours=lambda: wall_seconds([FULLGRAPH, "check", TOY]),
        peer=lambda: wall_seconds([python(), TOY], {"TORCH_LOGS": "graph_breaks"}),
        runs=5,
        target=1.5,
    )
