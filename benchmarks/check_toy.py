"""``fullgraph check`` on a toy program, compared with torch's logs.

The toy is that of the troubleshooting guide. The peer is ``TORCH_LOGS=graph_breaks python toy.py``, which
runs the unmodified program with TorchInductor. First both start fresh processes with cold caches, then both
run once more: the check finds the process that its first run has left, the peer its caches.
"""

import tempfile
from pathlib import Path

from fullgraph_server.workers.handover import end_fork_server
from support.measure import TOY, cached_seconds, compare, python, wall_seconds

FULLGRAPH = str(Path(python()).with_name("fullgraph"))
_CHECK, _PEER = [FULLGRAPH, "check", str(TOY)], [python(), str(TOY)]
_LOGS = {"TORCH_LOGS": "graph_breaks"}

if __name__ == "__main__":
    compare(
        "fullgraph check toy.py / TORCH_LOGS=graph_breaks python toy.py",
        ours=lambda: wall_seconds(_CHECK),
        peer=lambda: wall_seconds(_PEER, _LOGS),
        runs=5,
        target=1.5,
    )
    with tempfile.TemporaryDirectory() as folder:
        caches = Path(folder)
        warm = {"FULLGRAPH_WARM": "1", "CI": "", "XDG_RUNTIME_DIR": folder}
        cached_seconds(_CHECK, caches, warm)
        cached_seconds(_PEER, caches, _LOGS)
        compare(
            "the same, once more",
            ours=lambda: cached_seconds(_CHECK, caches, warm),
            peer=lambda: cached_seconds(_PEER, caches, _LOGS),
            runs=9,
            target=0.2,
        )
        for process in Path(folder, "fullgraph").iterdir():
            end_fork_server(process)
