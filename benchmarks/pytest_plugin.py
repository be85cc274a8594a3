"""The cost of the pytest plugin for a suite that does not use it.

The same suite runs with and without the plugin, in an environment in which the wheel is installed, in fresh
processes, in turn. The time is the processor's, which other programs change least. The difference between two
runs without the plugin is printed, too. The suite is plain Python: one that imports torch takes seconds more
on both sides.
"""

import importlib.metadata
import resource
import statistics
import subprocess
import tempfile
import venv
import zipfile
from pathlib import Path

from support.measure import HERE, SMALL, python

TARGET, RUNS = 0.01, 1 if SMALL else 21
SUITE = """
import pytest

@pytest.mark.parametrize("number", range(3000))
def test_sum(number):
    assert sum(range(number)) == number * (number - 1) // 2
"""


def environment(folder: Path) -> Path:
    """Create an environment with the wheel and this interpreter's packages.

    Return the path of its interpreter.
    """
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


def cpu_seconds(command: list[str]) -> float:
    """The processor's time for a command in a fresh process, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = folder / "test_suite.py"
        suite.write_text(SUITE)
        options = ["-q", "-c", "/dev/null", "-p", "no:cacheprovider"]
        command = [str(environment(folder)), "-m", "pytest", *options, str(suite)]
        peer = [*command, "-p", "no:fullgraph"]
        rounds = [[cpu_seconds(run) for run in (command, peer, peer)] for _ in range(RUNS)]
    ours, theirs, again = (statistics.median(column) for column in zip(*rounds, strict=True))
    cost, noise = (statistics.median(one[side] / one[1] for one in rounds) - 1 for side in (0, 2))
    print(f"unmarked suite, with the plugin: {ours:.2f} s, without {theirs:.2f} s and {again:.2f} s")
    print(f"cost {cost:+.2%} (target < {TARGET:.0%}), noise {noise:+.2%} (medians of {RUNS} rounds)")
