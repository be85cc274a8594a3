"""What tlparse finds in a log is found here; what is found here alone is listed."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from fullgraph_server.report.model import Report
from traces import RECORDED, read

TLPARSE = Path(sys.executable).with_name("tlparse")
BREAK = re.compile(r"Graph break in user code at (.+):(\d+)")
KERNEL = re.compile(r"^(\w+) = async_compile\.\w+\(", re.MULTILINE)

THEIR_WORDS = {
    "missing-fake-kernel": "Missing Fake Kernel",
    "mismatched-fake-kernel": "Mismatched Fake Kernel",
    "data-dependent": "Data Dependent Error",
    "size-constraint": "Guard Evaluated",
}
BOTH = ("graph-break", "recompile")
OURS_ALONE = {
    # Failures of the compiler, and of whole graphs that were asked for, and a limit: each on a line.
    "torch-2.13": {("GB0059", 31), ("GB4315", 48), ("compile-error", 37), ("recompile-limit", 42)},
    "torch-2.15": {("GB0059", 31), ("GB4315", 48), ("compile-error", 37), ("recompile-limit", 42)},
}


@dataclass(frozen=True)
class LaunchNotes:
    """Breaks as (compile id, place), recompilations as compile ids, kernels as (compile id, name)."""

    breaks: frozenset[tuple[str, str]]
    recompiles: frozenset[str]
    kernels: frozenset[tuple[str, str]]

    def minus(self, other: LaunchNotes) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = {("break", *item) for item in self.breaks - other.breaks}
        found |= {("recompile", item) for item in self.recompiles - other.recompiles}
        return found | {("kernel", *item) for item in self.kernels - other.kernels}


def by_tlparse(log: Path, folder: Path) -> LaunchNotes:
    command = [str(TLPARSE), str(log), "-p", "-o", str(folder), "--overwrite", "--no-browser"]
    subprocess.run(command, check=True, capture_output=True)
    breaks, recompiles, kernels = set(), set(), set()
    for name, compiled in json.loads((folder / "compile_directory.json").read_text()).items():
        compile_id = name.strip("[]").partition("_")[0]
        for artifact in compiled["artifacts"]:
            text = (folder / artifact["url"]).read_text(errors="replace")
            if artifact["name"].startswith("dynamo_graph_break_reason"):
                for filename, row in BREAK.findall(text):
                    breaks.add((compile_id, f"{Path(filename).name}:{row}"))
            elif artifact["name"].startswith("recompile_reasons"):
                recompiles.add(compile_id)
            elif artifact["name"].startswith("inductor_output_code"):
                kernels.update((compile_id, kernel) for kernel in KERNEL.findall(text))
    return LaunchNotes(frozenset(breaks), frozenset(recompiles), frozenset(kernels))


def by_us(report: Report) -> LaunchNotes:
    found = [(item, name) for item in report.findings for name in item.compile_ids]
    return LaunchNotes(
        frozenset(
            (name, f"{Path(item.span.filename).name}:{item.span.row}")
            for item, name in found
            if item.kind == "graph-break"
        ),
        frozenset(name for item, name in found if item.kind in ("recompile", "recompile-limit")),
        frozenset(
            (code.compile_id, launch.name)
            for code in report.codes
            for launch in code.launches
            if launch.language != "extern"
        ),
    )


@pytest.mark.parametrize("name", ["torch-2.11-gpu-toy", "torch-2.11-gpu-train", "torch-2.13", "torch-2.15"])
def test_all_that_tlparse_finds_and_what_it_does_not(name: str, tmp_path: Path) -> None:
    log = tmp_path / f"{name}.log"
    log.write_bytes(gzip.decompress((RECORDED / f"{name}.log.gz").read_bytes()))
    theirs = by_tlparse(log, tmp_path / "tl")
    report = read(log, RECORDED, "code")
    ours = by_us(report)
    assert theirs.breaks or theirs.kernels
    assert not theirs.minus(ours)
    assert not ours.minus(theirs)
    alone = {(item.code, item.span.row) for item in report.findings if item.kind not in (*BOTH, "perf-hint")}
    assert alone == OURS_ALONE.get(name, set())


ROW = re.compile(
    r"<td>\s*(Missing Fake Kernel|Mismatched Fake Kernel|Guard Evaluated|Data Dependent Error)\s*</td>"
)
UNREAD = re.compile(
    r'^Failed to parse metadata JSON: \{"(guard_added|propagate_real_tensors_provenance)"', re.MULTILINE
)


@pytest.mark.parametrize("version", ["2.13", "2.15"])
def test_all_export_failures_that_tlparse_finds(version: str, tmp_path: Path) -> None:
    log = tmp_path / "draft.log"
    log.write_bytes(gzip.decompress((RECORDED / f"draft-{version}.log.gz").read_bytes()))
    command = [str(TLPARSE), str(log), "-p", "--export", "-o", str(tmp_path / "tl"), "--no-browser"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    theirs = Counter(ROW.findall((tmp_path / "tl" / "index.html").read_text()))
    # tlparse 0.4.3 takes the locals of a frame for texts, while torch writes lists: it drops these records.
    theirs.update(
        {"guard_added": "Guard Evaluated"}.get(name, "Data Dependent Error")
        for name in UNREAD.findall(done.stderr)
    )
    ours = Counter(THEIR_WORDS[finding.code] for finding in read(log, RECORDED).findings)
    assert ours == theirs
    assert sum(ours.values()) == 4
