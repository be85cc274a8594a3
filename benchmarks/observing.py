"""The cost of observing: compile a transformer with and without Fullgraph.

The transformer has 12 layers. The program times its own ``torch.compile(backend="eager")``, in fresh
processes on both sides.
"""

import re
import subprocess

from support.measure import HERE, compare, python

PROGRAM = HERE / "programs" / "transformer.py"
OBSERVE = (
    "import json, sys; from fullgraph_compiler.capture.run import run; "
    "from fullgraph_compiler.facts import RunRequest, Script, as_object; "
    "encode = lambda facts: json.dumps(facts, default=as_object, check_circular=False); "
    "run(RunRequest(1, Script(sys.argv[1])), encode)"
)


def seconds(*command: str) -> float:
    """The seconds that the program reports."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = re.search(r"seconds: ([\d.]+)", done.stderr)
    assert found, done.stderr
    return float(found[1])


if __name__ == "__main__":
    compare(
        "torch.compile of 12 layers, observed / plain",
        ours=lambda: seconds(python(), "-c", OBSERVE, str(PROGRAM)),
        peer=lambda: seconds(python(), str(PROGRAM)),
        runs=11,
        target=1.10,
    )
