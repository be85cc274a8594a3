"""The best of the ways to compile a program, from what was measured, and how it is told."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from fullgraph_compiler.facts import CallsTimed, VariantMeasured
from fullgraph_server.cli import main
from fullgraph_server.cli.formats import CheckedReport
from fullgraph_server.cli.formats.variants import write, write_json
from fullgraph_server.report.fold import fold
from fullgraph_server.report.measured.best_variant import Goal, advice, best_for
from fullgraph_server.report.model import Report
from fullgraph_server.workspace.workspace import Workspace

MS = 1e-3
WORKSPACE = Workspace(Path("/w"), lambda _: None)


def calls(milliseconds: float, noise: float = 0.0) -> CallsTimed:
    seconds = milliseconds * MS
    return CallsTimed(seconds, seconds * (1 - noise), seconds * (1 + noise), 2 * MS)


def variant(
    name: str, cold: float, milliseconds: float, in_row: float | None = None, noise: float = 0.0
) -> VariantMeasured:
    row = calls(milliseconds if in_row is None else in_row, noise)
    return VariantMeasured(name, cold, cold / 2, row, calls(milliseconds, noise), 3 << 20)  # type: ignore[arg-type]


AS_IS = variant("as-is", 14.0, 1.42)
BLOCK = replace(variant("block", 3.1, 1.31), modules=("Block",), count=12)
NO_GRAPHS = VariantMeasured("reduce-overhead", problem="it needs a GPU", applies=False)
FAILS = VariantMeasured("dynamic", problem="InductorError: it broke")


def sentence(*variants: VariantMeasured, goal: Goal = "latency") -> str:
    best = best_for(variants, goal)
    assert best is not None
    return best.sentence


def test_the_fastest_is_told_beside_the_program_as_it_is() -> None:
    assert sentence(AS_IS, BLOCK, NO_GRAPHS, FAILS) == (
        "Best for latency: the repeated block (`compile()` of each of 12 modules: `Block`): 1.31 ms a call, "
        "8 % less than the unchanged program, and it starts in 3.1 s instead of 14 s."
    )


def test_the_program_as_it_is_is_told_beside_the_next_one() -> None:
    slower = variant("dynamic", 20.0, 2.84)
    assert sentence(AS_IS, slower) == (
        "Best for latency: the unchanged program: 1.42 ms a call, 50 % less than the next one, dynamic=True."
    )
    assert sentence(AS_IS, FAILS) == "Best for latency: the unchanged program: 1.42 ms a call."


def test_calls_in_a_row_may_have_another_best() -> None:
    row, single = variant("dynamic", 14.0, 1.5, in_row=0.5), variant("as-is", 14.0, 1.0, in_row=0.9)
    assert sentence(single, row, goal="latency").startswith("Best for latency: the unchanged program: 1 ms")
    assert sentence(single, row, goal="throughput").startswith("Best for throughput: `dynamic=True`: 500 us")


def test_a_start_is_told_with_its_calls() -> None:
    slower = replace(BLOCK, single=calls(1.6))
    assert sentence(AS_IS, slower, goal="start") == (
        "Best for start: the repeated block (`compile()` of each of 12 modules: `Block`): a start takes "
        "3.1 s, 78 % less than the unchanged program; a call takes 1.6 ms instead of 1.42 ms."
    )


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_within_the_noise_the_faster_start_is_chosen(noise: float) -> None:
    """Times that differ by 2 %, or by less than the same time in two processes."""
    block = replace(variant("block", 3.0, 1.0 + noise / 2 + 0.02, noise=noise), modules=("A", "B"), count=4)
    told = sentence(variant("as-is", 6.0, 1.0, noise=noise), block)
    assert told == (
        "No clear best for latency: unchanged and repeated block differ by no more than the noise here. Of "
        "these, the repeated block (`compile()` of each of 4 modules: `A`, `B`) starts fastest: in 3 s "
        "instead of 6 s unchanged."
    )


def test_within_the_noise_a_program_stays_as_it_is_if_nothing_starts_faster() -> None:
    told = sentence(variant("as-is", 6.0, 1.01), variant("dynamic", 5.8, 1.0))
    assert told.endswith("differ by no more than the noise here. Leave the program unchanged.")


def test_starts_that_are_alike_are_told_apart_by_calls() -> None:
    told = sentence(variant("as-is", 6.0, 2.0), variant("dynamic", 6.3, 1.0), goal="start")
    assert told.endswith("Of these, `dynamic=True` has the fastest calls: 1 ms instead of 2 ms unchanged.")


def test_there_is_no_best_where_nothing_could_be_measured() -> None:
    assert best_for([FAILS, NO_GRAPHS], "latency") is None


def test_how_to_write_it() -> None:
    assert advice(AS_IS) == []
    assert advice(BLOCK)[1] == "    if isinstance(module, Block):"
    assert advice(replace(BLOCK, modules=("A", "B")))[1] == "    if isinstance(module, (A, B)):"
    assert advice(VariantMeasured("max-autotune-no-cudagraphs")) == [
        'torch.compile(model, mode="max-autotune-no-cudagraphs")'
    ]
    assert advice(FAILS) == ["torch.compile(model, dynamic=True)"]
    assert advice(VariantMeasured("whole", modules=("Net",))) == [
        "model.compile()  # the Net, instead of its parts"
    ]


def report(*variants: VariantMeasured) -> CheckedReport:
    told: Report = fold("/w/model.py", 1, "2.13.0", variants, WORKSPACE, depth="speed")
    return CheckedReport(None, told, WORKSPACE)  # type: ignore[arg-type]


def text(*variants: VariantMeasured) -> list[str]:
    out = io.StringIO()
    write(report(*variants), best_for(variants, "latency"), "latency", out)
    return out.getvalue().splitlines()


def test_the_table_has_all_that_were_tried() -> None:
    first, _, *rest = text(AS_IS, BLOCK, NO_GRAPHS, FAILS)
    assert first.startswith("Best for latency: the repeated block")
    assert rest == [
        "                cold start  warm start  one call  peak memory",
        "unchanged           14.0 s       7.0 s   1.42 ms        3 MiB",
        "repeated block       3.1 s       1.6 s   1.31 ms        3 MiB",
        "dynamic=True             -           -         -            -  InductorError: it broke",
        "uncompiled               -           -      2 ms            -",
        "",
        "Without a GPU, latency and throughput are the same.",
        "Memory is that of the process, above what it used before the program ran.",
        'Not tried: mode="reduce-overhead" (it needs a GPU).',
        "",
        "    for module in model.modules():  # instead of compiling the model",
        "        if isinstance(module, Block):",
        "            module.compile()",
    ]


def test_with_a_gpu_calls_in_a_row_have_a_column() -> None:
    head = text(replace(AS_IS, device="H100", in_row=calls(0.7)))[2:4]
    assert head[0].split("  ")[-2:] == ["calls in a row", "peak memory"]
    assert "0.7 ms" in head[1] or "700 us" in head[1]


def test_json_has_everything() -> None:
    out = io.StringIO()
    variants = (AS_IS, BLOCK, NO_GRAPHS)
    write_json(report(*variants), best_for(variants, "start"), "start", out)
    told = json.loads(out.getvalue())
    assert (told["goal"], told["best"], told["alike"]) == ("start", "block", ["block"])
    assert [item["variant"] for item in told["variants"]] == ["as-is", "block", "reduce-overhead"]
    assert told["variants"][1]["single"]["seconds"] == pytest.approx(1.31 * MS)
    assert told["code"][0].startswith("for module in")


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--best-for", "start"], "add --try"), (["--try", "--fail-under", "2"], "leave out --try")],
)
def test_options_that_do_not_go_together_are_refused(options: list[str], words: str, tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text("import torch\n")
    told = CliRunner().invoke(main, ["speed", str(program), *options])
    assert told.exit_code == 2
    assert words in told.output
