"""The interpreter on recorded logs: torch 2.13 and 2.15 on a CPU, 2.11 on a GPU.

``traces/program.py`` wrote the CPU logs, ``traces/exports.py`` those of exports. Each log has its facts
beside it, a line a fact; after a change that is meant to change them, run
``UPDATE_GOLDEN=1 pytest tests/compiler/trace/test_trace_golden.py`` and read the difference.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from fullgraph_compiler import facts as f
from fullgraph_compiler.trace import TraceInterpreter, read_log

TRACES = Path(__file__).parents[1] / "traces"
LOGS = sorted(TRACES.glob("*.log.gz"))


def interpret(path: Path) -> list[f.Fact]:
    interpreter = TraceInterpreter()
    facts = [fact for record in read_log(path) for fact in interpreter.feed(record)]
    return [*facts, *interpreter.finish()]


def place(stack: f.Stack) -> str:
    if not stack:
        return "nowhere"
    return f"{Path(stack[-1].filename).name}:{stack[-1].row} in {stack[-1].function} ({len(stack)} deep)"


def kernel_line(kernel: f.Kernel) -> str:
    words = " ".join(filter(None, (kernel.language, kernel.heuristic)))
    operators = ", ".join(f"{n.operator} @{n.frame.row if n.frame else '-'}" for n in kernel.nodes)
    rows = ", ".join(str(stack[-1].row) for stack in kernel.stacks)
    return (
        f"    {kernel.name} ({words}) {kernel.definition} launched {kernel.launch}: {operators}; lines {rows}"
    )


def phase_line(phase: f.CompilePhase, begin: float) -> str:
    return f"    {phase.compile_id} {phase.start - begin:.4f} {phase.seconds:.4f} {phase.name}"


def line(fact: f.Fact) -> str:
    name = type(fact).__name__
    if isinstance(fact, f.FrameStarted):
        return f"{name} {fact.compile_id} {fact.function} {Path(fact.filename).name}:{fact.row}"
    if isinstance(fact, f.FrameInputs):
        tensors = ", ".join(f"{x.source}={x.dtype}{list(x.size)}" for x in fact.tensors)
        numbers = ", ".join(f"{source}={number}" for source, number in fact.numbers)
        return f"{name} {fact.compile_id} {tensors}; {numbers}"
    if isinstance(fact, f.FrameCompiled):
        counts = f"graphs={fact.graphs} ops={fact.ops} guards={fact.guards}"
        return f"{name} {fact.compile_id} {fact.function} {counts}"
    if isinstance(fact, f.FrameSkipped):
        return f"{name} {fact.compile_id} {fact.function}: {fact.reason}"
    if isinstance(fact, f.GraphCaptured):
        nodes = ", ".join(f"{node.name}: {node.tensor or '-'} @{node.frame.row}" for node in fact.nodes)
        return f"{name} {fact.compile_id} {nodes}"
    if isinstance(fact, f.GraphTraced):
        operations = ", ".join(
            f"{item} @{frame.row}" for item, frame in zip(fact.operations, fact.stack, strict=True)
        )
        return f"{name} {fact.compile_id} ({', '.join(fact.inputs)}) {operations}"
    if isinstance(fact, f.Artifact):
        return f"{name} {fact.compile_id} {fact.phase or 'all phases'} {fact.kind}"
    if isinstance(fact, f.PhasesTimed):
        begin = fact.phases[0].start
        return "\n".join([name, *(phase_line(phase, begin) for phase in fact.phases)])
    if isinstance(fact, f.CudagraphSkip):
        return f"{name} {fact.compile_id} {place(fact.stack)}: {fact.reason}"
    if isinstance(fact, f.CodeGenerated):
        return "\n".join([f"{name} {fact.compile_id} {fact.phase}", *map(kernel_line, fact.kernels)])
    if isinstance(fact, f.GraphBreak):
        code = fact.code + (" skips the frame" if fact.skips_frame else "")
        words = f"{fact.reason}; {len(fact.hints)} hints; {fact.url}"
        return f"{name} {fact.compile_id} {code} {place(fact.stack)}: {words}"
    if isinstance(fact, f.GuardInstalled):
        return (
            f"{name} {fact.compile_id} {fact.source or '-'} {fact.kind} [{fact.expected}] {place(fact.stack)}"
        )
    if isinstance(fact, f.ShapeGuard):
        symbols = ", ".join(f"{x.name}={x.source}={x.value}" for x in fact.symbols)
        places = f"{place(fact.stack)} {place(fact.torch_stack)}"
        return f"{name} {fact.compile_id} {fact.expression} ({symbols}) {places}"
    if isinstance(fact, f.Specialization):
        what = f"{fact.symbol}={fact.value} {', '.join(fact.sources)} {fact.reason}"
        return f"{name} {fact.compile_id} {what} {place(fact.stack)} {place(fact.torch_stack)}"
    if isinstance(fact, (f.Recompile, f.RecompileLimit)):
        why = "; ".join(
            f"{x.compile_id} {x.source} {x.kind} dim={x.dimension} {x.expected}->{x.actual} {place(x.stack)}"
            for x in fact.failures
        )
        if isinstance(fact, f.RecompileLimit):
            limit = f"{fact.function} {fact.setting}={fact.limit} called from {place(fact.stack)}"
            return f"{name} {fact.compile_id} {limit} {why}"
        return f"{name} {fact.compile_id} {why}"
    if isinstance(fact, f.ExportProblem):
        reads = ", ".join(f"{item.name} {place(item.stack)}" for item in fact.symbols)
        return (
            f"{name} {fact.compile_id} {fact.kind} {fact.subject} [{fact.detail}] {place(fact.stack)} {reads}"
        )
    if isinstance(fact, f.ProgramExported):
        ranges = ", ".join(f"{x.lower} {x.symbol.name}={x.symbol.source} {x.upper}" for x in fact.ranges)
        return f"{name} {fact.compile_id} {'draft ' if fact.of_draft_log else ''}{ranges}"
    if isinstance(fact, f.ExportFailed):
        return f"{name} {fact.compile_id} {place(fact.stack)}"
    assert isinstance(fact, f.CompileFailure)
    return (
        f"{name} {fact.compile_id} {fact.phase} {fact.error} {fact.code} {place(fact.stack)}: {fact.message}"
    )


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name.removesuffix(".log.gz"))
def test_facts_of_recorded_log(log: Path) -> None:
    found = [text for fact in interpret(log) for text in line(fact).splitlines()]
    golden = log.with_name(log.name.replace(".log.gz", ".facts"))
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text("\n".join(found) + "\n")
    assert found == golden.read_text().splitlines()


def test_the_same_program_tells_the_same_on_both_versions() -> None:
    older, newer = (
        Counter(type(fact).__name__ for fact in interpret(TRACES / f"torch-{version}.log.gz"))
        for version in ("2.13", "2.15")
    )
    assert older == newer
    assert older["GraphBreak"] == 5


def test_a_break_in_a_loop_is_told_though_explain_misses_it() -> None:
    breaks = [fact for fact in interpret(TRACES / "torch-2.13.log.gz") if isinstance(fact, f.GraphBreak)]
    skipping = [fact for fact in breaks if fact.skips_frame]
    assert [(fact.code, fact.stack[-1].function) for fact in skipping] == [("GB0025", "breaks_in_loop")]


def test_all_facts_survive_json() -> None:
    facts = interpret(TRACES / "torch-2.15.log.gz")
    assert list(f.from_json(f.to_json(facts))) == facts


def test_after_a_reset_torch_counts_from_zero_and_we_count_on() -> None:
    interpreter = TraceInterpreter()
    log = TRACES / "torch-2.13.log.gz"
    first, second = ([fact for item in read_log(log) for fact in interpreter.feed(item)] for _ in range(2))
    ids = [fact.compile_id for fact in first if isinstance(fact, f.FrameStarted)]
    later = [fact.compile_id for fact in second if isinstance(fact, f.FrameStarted)]
    assert len({*ids, *later}) == 2 * len(ids)
    for fact in second:
        if isinstance(fact, (f.Recompile, f.RecompileLimit)):
            assert fact.compile_id not in ids
            assert {failure.compile_id for failure in fact.failures} <= {*later}
