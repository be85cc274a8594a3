"""What tlparse finds in a log is found here; what is found here alone is listed."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from fullgraph_server.report.model import Report
from traces import RECORDED, read

TLPARSE = Path(sys.executable).with_name("tlparse")
BREAK = re.compile(r"Graph break in user code at (.+):(\d+)")
KERNEL = re.compile(r"^(\w+) = async_compile\.\w+\(", re.MULTILINE)

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
