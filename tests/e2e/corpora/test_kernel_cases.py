"""Every function of ``tests/cases/kernels``: each line has the kernels that are written behind it.

A line's comment says what computes it, forward (``fw``) and backward (``bw``), by launch: ``fused`` for a
kernel that TorchInductor writes, else the library function; ``[fused]`` is told by some torch versions only.
Where there is none, it says why in round brackets.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

CASES = sorted((Path(__file__).parents[2] / "cases" / "kernels").glob("*.py"))
_EXPECTED = re.compile(r"  # (?P<said>(?:fw|bw|none)[^(]*)(?P<why>\(.+\))?$")
_TITLE = re.compile(r"^Graph \S+,.* (forward|backward|inference)$")
_LAUNCH = re.compile(r"^  \S+\.py:(?P<rows>[\d,]+) +(?P<name>\S+)")
_TENSOR = re.compile(r"\b[fi]\d+\[[\d, ]*\]")
"""A tensor of an example call: ``f32[64, 32]``."""
_PHASES = {"forward": "fw", "inference": "fw", "backward": "bw"}

Seen = dict[int, Counter[str]]


def expected(case: Path) -> Seen:
    """What the comments say, by row: ``fw mm`` and the like, with their number."""
    found: Seen = {}
    for row, line in enumerate(case.read_text().splitlines(), 1):
        if comment := _EXPECTED.search(line):
            phases = (part.split(": ") for part in comment["said"].strip().split("; ") if ": " in part)
            found[row] = Counter(f"{phase} {kind}" for phase, kinds in phases for kind in kinds.split())
            assert found[row] or comment["why"], f"{case.name}:{row} gives no reason"
    return found


def seen(case: Path, cwd: Path) -> Seen:
    """What ``fullgraph kernels`` tells, in the same form."""
    command = [sys.executable, "-c", "from fullgraph_server.cli import main; main()", "kernels", str(case)]
    command += ["--python", sys.executable]
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=os.environ)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    phase = ""
    for line in ended.stdout.splitlines():
        if title := _TITLE.match(line):
            phase = _PHASES[title[1]]
        elif launch := _LAUNCH.match(line):
            for row in launch["rows"].split(","):
                found[int(row)][f"{phase} {kind(launch['name'])}"] += 1
    return found


def kind(name: str) -> str:
    """``fused`` for what TorchInductor has written, else the name of the library function."""
    if name.startswith(("cpp_", "triton_")):
        return "fused"
    return name.removeprefix("torch.ops.").split(".")[1]


def certain(kinds: Counter[str]) -> Counter[str]:
    """What every version of torch tells."""
    return Counter({kind: number for kind, number in kinds.items() if "[" not in kind})


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.stem, marks=[pytest.mark.slow] if number else [])
        for number, case in enumerate(CASES)
    ],
)
def test_each_line_has_its_kernels(case: Path, tmp_path: Path) -> None:
    wanted, found = expected(case), seen(case, tmp_path)
    assert set(found) <= set(wanted)
    for row, kinds in wanted.items():
        possible = Counter(kind.replace("[", "").replace("]", "") for kind in kinds.elements())
        told = found.get(row, Counter())
        assert certain(kinds) <= told <= possible, f"{case.name}:{row}"


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_each_line_has_its_kernels_on_a_gpu(case: Path, tmp_path: Path) -> None:
    """Other library functions may compute a line there: what is told is the pass, and that something does."""
    copy = tmp_path / case.name
    copy.write_text(_TENSOR.sub(r"\g<0>.cuda()", case.read_text()))
    wanted, found = expected(case), seen(copy, tmp_path)
    assert set(found) <= set(wanted)
    alike = sum(certain(wanted[row]) <= found.get(row, Counter()) for row in wanted)
    print(f"{case.name}: of {len(wanted)} lines {alike} have the same kernels as on a CPU")
    for row, kinds in wanted.items():
        passes = {kind.partition(" ")[0] for kind in certain(kinds)}
        assert passes <= {kind.partition(" ")[0] for kind in found.get(row, ())}, f"{case.name}:{row}"
    assert "fw fused" in {kind for kinds in found.values() for kind in kinds}


def test_the_corpus_is_large_enough_and_says_how_much_is_covered(
    record_property: Callable[[str, object], None],
) -> None:
    functions = sum(len(re.findall(r"^def ", case.read_text(), re.MULTILINE)) for case in CASES)
    lines = [kinds for case in CASES for kinds in expected(case).values()]
    covered = sum(bool(kinds) for kinds in lines)
    record_property("ratio: lines of the kernel corpus that have kernels", (covered, len(lines)))
    assert functions >= 25
    assert covered / len(lines) > 0.95
