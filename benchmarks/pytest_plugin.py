"""What the pytest plugin costs a suite that does not use it: the same suite with and without it.

Both sides run in an environment in which the wheel is installed, in fresh processes, in turn; what the side
without differs from itself by is told, too. The suite is Python's alone: one that imports torch takes seconds
more on both sides.
"""

import importlib.metadata
import statistics
import subprocess
import tempfile
import venv
import zipfile
from pathlib import Path

from measure import HERE, python, wall_seconds

TARGET, RUNS = 0.01, 21
SUITE = """
import pytest

@pytest.mark.parametrize("number", range(3000))
def test_sum(number):
    assert sum(range(number)) == number * (number - 1) // 2
"""


def environment(folder: Path) -> Path:
    """An environment with the wheel, and what this interpreter has; returns its interpreter."""
    wheels = folder / "wheels"
    build = [python(), "-m", "pip", "wheel", "--quiet", "--no-deps", f"--wheel-dir={wheels}", HERE.parent]
    subprocess.run(build, check=True)
    venv.create(folder / "venv")
    (site,) = (folder / "venv").glob("**/site-packages")
    own = importlib.metadata.distribution("pytest").locate_file("")
    (site / "others.pth").write_text(f"{own}\n")
    (wheel,) = wheels.iterdir()
    zipfile.ZipFile(wheel).extractall(site)
    return next((folder / "venv").glob("*/python"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = folder / "test_suite.py"
        suite.write_text(SUITE)
        options = ["-q", "-c", "/dev/null", "-p", "no:cacheprovider"]
        command = [environment(folder), "-m", "pytest", *options, suite]
        peer = [*command, "-p", "no:fullgraph"]
        sides = {"with": command, "without": peer, "without, again": peer}
        seconds: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(RUNS):
            for side, run in sides.items():
                seconds[side].append(wall_seconds(run))
        medians = {side: statistics.median(runs) for side, runs in seconds.items()}
        for side in ("with", "without, again"):
            cost = medians[side] / medians["without"] - 1
            print(f"{side}: {medians[side]:.3f} s, without {medians['without']:.3f} s: {cost:+.2%}")
        print(f"(target for with: < {TARGET:.0%}; medians of {RUNS})")
