"""What tlparse finds in a log is found here; what is found here alone is listed."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from fullgraph_server.report.artifacts import CompilerDocument, documents_of
from fullgraph_server.report.model import Report
from logged import KINDS, logs
from traces import RECORDED, read

AUTOTUNING = Path(__file__).with_name("autotuning")
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


def run_tlparse(path: Path, folder: Path, *more: str) -> None:
    command = [str(TLPARSE), str(path), "-p", "-o", str(folder), "--overwrite", "--no-browser", *more]
    subprocess.run(command, check=True, capture_output=True)


def by_tlparse(log: Path, folder: Path) -> LaunchNotes:
    run_tlparse(log, folder)
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


# -- logs of this torch, of every kind ---------------------------------------------------------

CACHE = re.compile(r"^((?:fx_graph|aotautograd)_cache_(?:hit|miss|bypass))_\d+\.json$")
FAILURE = re.compile(r"<a href='[^']*'>\[([^\]]+)\]</a>\s*</td>\s*<td><pre>(\w+)</pre>")
NUMBERED = re.compile(r"_\d+(?=\.\w+$)")
METRICS = ("compilation_metrics", "bwd_compilation_metrics")
"""Values that tlparse makes an HTML page of."""


@dataclass(frozen=True)
class Told:
    """What tlparse tells of a log. Failures are (compile id, type), documents texts by compile id."""

    compile_ids: frozenset[str]
    graphs: Counter[str]
    failures: frozenset[tuple[str, str]]
    cache: Counter[tuple[str, str]]
    documents: dict[str, set[str]]
    names: Counter[str]


def compile_id_of(name: str) -> str:
    """The compile id of a group of tlparse's artifacts, without the attempt: ``[0/0_1]``, ``[!0/-/-]``."""
    compile_id = "" if name == "unknown" else name.strip("[]").partition("_")[0]
    return compile_id.removesuffix("-/-").rstrip("/")


def told_by_tlparse(log: Path, folder: Path) -> Told:
    run_tlparse(log, folder)
    graphs, cache = Counter[str](), Counter[tuple[str, str]]()
    documents, names = defaultdict(set), Counter[str]()
    groups = json.loads((folder / "compile_directory.json").read_text())
    for group, compiled in groups.items():
        compile_id = compile_id_of(group)
        for artifact in compiled["artifacts"]:
            name = artifact["name"]
            names[NUMBERED.sub("", name)] += 1
            graphs[compile_id] += name.startswith("dynamo_output_graph")
            if found := CACHE.match(name):
                cache[compile_id, found[1]] += 1
            if not name.endswith(".html"):  # a page of tlparse's own
                text = (folder / artifact["url"]).read_text(errors="replace")
                documents[compile_id].add(normal(text))
    failures = FAILURE.findall((folder / "failures_and_restarts.html").read_text())
    return Told(
        frozenset(map(compile_id_of, groups)),
        +graphs,
        frozenset((compile_id_of(name), kind) for name, kind in failures),
        cache,
        documents,
        names,
    )


def normal(text: str) -> str:
    """A text without the blanks and the order of keys that tlparse gives to JSON."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except ValueError:
        return text.rstrip("\n")


@pytest.mark.xdist_group("logged")
@pytest.mark.parametrize(
    "kind", [kind if kind == "breaks" else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
)
def test_nothing_of_tlparse_is_missing(kind: str, tmp_path: Path) -> None:
    for log in logs(kind):
        theirs = told_by_tlparse(log, tmp_path / log.stem)
        report = read(log, log.parent, "code")
        documents = documents_of(report)
        frames = {name for frame in report.frames for name in frame.compile_ids}
        assert theirs.compile_ids <= frames | {item.compile_id for item in documents}
        assert theirs.graphs == Counter(graph.compile_id for graph in report.graphs)
        assert_same_failures(theirs, report)
        events = ((item.compile_id, item.name) for item in report.records)
        assert theirs.cache == Counter(item for item in events if CACHE.match(f"{item[1]}_0.json"))
        assert not missing_documents(theirs, documents)
        pages = Counter(item.name for item in report.records if item.name in METRICS)
        assert pages == +Counter({name: theirs.names[f"{name}.html"] for name in METRICS})
        assert EXPECTED.get(kind, set()) <= {finding.kind for finding in report.findings}


def assert_same_failures(theirs: Told, report: Report) -> None:
    ours = {(name, item.kind) for item in report.findings for name in item.compile_ids}
    failed = {name for name, kind in theirs.failures if kind != "RestartAnalysis"}
    assert failed <= {name for name, kind in ours if kind in FAILURES}
    assert {name for name, kind in ours if kind in ("compile-error", "capture-error")} <= failed


def missing_documents(theirs: Told, documents: Sequence[CompilerDocument]) -> dict[str, set[str]]:
    """The texts of tlparse that are not among ours, by compile id."""
    texts = defaultdict(set)
    for item in documents:
        texts[item.compile_id].add(normal(item.text))
    missing = {name: of - texts[name] - {""} for name, of in theirs.documents.items()}
    return {name: absent for name, absent in missing.items() if absent}


FAILURES = ("graph-break", "compile-error", "capture-error", "recompile-limit")
EXPECTED = {
    "breaks": {"graph-break", "capture-error", "compile-error", "recompile", "recompile-limit"},
    "training": {"graph-break", "recompile"},
    "again": {"graph-break", "recompile"},
}


def test_nothing_is_missing_of_a_log_with_autotuning(tmp_path: Path) -> None:
    """A matrix product with ``max-autotune-no-cudagraphs`` on an H200: a CPU writes no record of that."""
    log = tmp_path / "job.log"
    log.write_bytes(gzip.decompress((AUTOTUNING / "torch-2.11-gpu.log.gz").read_bytes()))
    theirs = told_by_tlparse(log, tmp_path / "tl")
    report = read(log, tmp_path, "code")
    assert theirs.names["triton_kernel_info.json"] == 1
    assert theirs.graphs == Counter(graph.compile_id for graph in report.graphs)
    assert not missing_documents(theirs, documents_of(report))
    steps = {phase.name for phase in report.phases}
    assert "mm_template_autotuning" in steps


@pytest.mark.xdist_group("logged")
@pytest.mark.slow
def test_caches_hit_miss_and_bypass() -> None:
    for kind, status in {"training": "miss", "again": "hit", "bypass": "bypass"}.items():
        (log,) = logs(kind)
        names = {record.name for record in read(log, log.parent, "code").records}
        assert f"fx_graph_cache_{status}" in names
        assert f"aotautograd_cache_{status}" in names


@pytest.mark.xdist_group("logged")
@pytest.mark.slow
def test_ranks_are_those_of_tlparse(tmp_path: Path) -> None:
    folder = logs("ranks")[0].parent
    run_tlparse(folder, tmp_path / "tl", "--all-ranks-html")
    theirs = {int(path.name.removeprefix("rank_")) for path in (tmp_path / "tl").glob("rank_*")}
    report = read(folder, folder)
    assert {rank.rank for rank in report.ranks} == theirs == {0, 1}
    warns = "Diverging Compilation IDs" in (tmp_path / "tl" / "index.html").read_text()
    assert warns == any(finding.kind == "rank-difference" for finding in report.findings)
