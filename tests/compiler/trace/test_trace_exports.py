"""Facts of exports: torch's texts, AOTInductor's code, and what belongs to which export."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler import facts as f
from fullgraph_compiler.trace import TraceInterpreter, TraceRecord, read_log
from fullgraph_compiler.trace.export.texts import (
    parse_assigned,
    parse_ranges,
    parse_suggestions,
    parse_undecided,
    parse_unknown_operator,
    parse_violations,
)

TRACES = Path(__file__).parents[1] / "traces"
VERSIONS = ("2.13", "2.15")

VIOLATED = """\
Constraints violated (batch, width)! For more information, run with TORCH_LOGS="+dynamic".
  - You marked batch as dynamic but your code specialized it to be a constant (4). If you're using \
mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with \
either Dim.STATIC or Dim.AUTO.
  - Not all values of width = L['x'].size()[1] in the specified range 2 <= width <= 64 satisfy the \
generated guard (L['x'].size()[1] % 8) == 0.
  - The values of batch = L['y'].size()[0] and other = L['x'].size()[0] must always be equal.
Suggested fixes:
  batch = 4
  width = 8*_width

The error above occurred when calling torch.export.export."""


def facts_of(name: str) -> list[f.Fact]:
    interpreter = TraceInterpreter()
    facts = [fact for record in read_log(TRACES / f"{name}.log.gz") for fact in interpreter.feed(record)]
    return [*facts, *interpreter.finish()]


def record(name: str, payload: str = "", compile_id: str = "", **body: object) -> TraceRecord:
    return TraceRecord(name, body, compile_id, 0, payload)


def fed(*records: TraceRecord) -> list[f.Fact]:
    interpreter = TraceInterpreter()
    return [*(fact for item in records for fact in interpreter.feed(item)), *interpreter.finish()]


MARKED = """\
Constraints violated (L['x'].size()[0], L['y'].size()[1])! For more information, run with \
TORCH_LOGS="+dynamic".
  - You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant (4). If you're \
using mark_dynamic, either remove it or use maybe_mark_dynamic.

User stack:
  File "/w/toy.py", line 6, in toy
    return x + TABLE
           ^^^^^^^^^

  - Not all values of L['y'].size()[1] = L['y'].size()[1] are valid because L['y'].size()[1] was inferred \
to be equal to 8."""


def test_which_dimensions_cannot_be_dynamic() -> None:
    violations = list(parse_violations(VIOLATED))
    assert [(item.dimension, item.source, item.value or item.condition) for item in violations] == [
        ("batch", "", "4"),
        ("width", "L['x'].size()[1]", "(L['x'].size()[1] % 8) == 0"),
        ("batch", "L['y'].size()[0]", "L['y'].size()[0] == L['x'].size()[0]"),
    ]
    assert (
        violations[0].text == "You marked batch as dynamic but your code specialized it to be a constant (4)."
    )
    assert not any(item.stack for item in violations)
    assert parse_suggestions(VIOLATED) == ("batch = 4", "width = 8*_width")


def test_a_mark_that_a_compilation_refuses_has_the_code_that_needs_the_number() -> None:
    one, other = parse_violations(MARKED, lambda *_: "    return x + TABLE")
    assert (one.dimension, one.source, one.value) == ("", "L['x'].size()[0]", "4")
    assert one.stack == (f.StackFrame("/w/toy.py", 6, "toy", 11, 6, 20),)
    assert (other.source, other.condition) == ("L['y'].size()[1]", "L['y'].size()[1] == 8")
    assert other.stack == ()


def test_attributes_that_are_assigned_are_read_from_the_warning() -> None:
    end = "Such attributes must be registered as buffers using the `register_buffer` API"
    one = f"The tensor attribute self.last was assigned during export. {end}"
    both = f"The tensor attributes self.block.last, self.cache[0] were assigned during export. {end}"
    assert parse_assigned(one) == ("self.last",)
    assert parse_assigned(both) == ("self.block.last", "self.cache[0]")
    assert parse_assigned("something else was assigned") == ()
    facts = fed(record("export"), record("export_warning", one), record("export_warning", one))
    problems = [fact for fact in facts if isinstance(fact, f.ExportProblem)]
    assert problems == [f.ExportProblem("export/0", "assigned-attribute", "self.last")]


def test_what_an_exception_is_about() -> None:
    undecided = "Could not guard on data-dependent expression u0 > 3 (unhinted: u0 > 3).  (Size-like ..."
    assert parse_undecided(undecided) == "u0 > 3"
    assert parse_undecided("CUDA out of memory") == ""
    registered = "There was no fake impl registered for <CustomOpDef(shop::twice)>. This is necessary"
    meta = "shop::twice: attempted to run this operator with Meta tensors, but there was no fake impl"
    assert parse_unknown_operator("RuntimeError", registered) == "shop::twice"
    assert parse_unknown_operator("NotImplementedError", meta) == "shop::twice"
    assert parse_unknown_operator("UnsupportedOperatorException", "shop.twice.default") == "shop::twice"
    assert parse_unknown_operator("ValueError", "shop.twice.default") == ""


def test_ranges_have_the_input_that_they_are_of() -> None:
    signature = 'def forward(self, x: "f32[s77, 5]", y: "f32[s77]"):'
    text = f"{signature}\n\nRange constraints: {{s77: VR[2, 64], u0: VR[0, int_oo]}}"
    batch, count = parse_ranges(text)
    assert batch == f.SizeRange(f.Symbol("s77", "L['x'].size()[0]", None), "2", "64")
    assert count == f.SizeRange(f.Symbol("u0", "", None), "0", "int_oo")


@pytest.mark.parametrize("version", VERSIONS)
def test_each_failure_is_a_fact_with_its_place(version: str) -> None:
    facts = facts_of(f"export-{version}")
    problems = [fact for fact in facts if isinstance(fact, f.ExportProblem)]
    undecided = [(item.subject, item.stack[-1].row, item.symbols[0].stack[-1].row) for item in problems]
    assert undecided == [("u0 > 3", 47, 46)] * 2  # non-strict, then strict
    failed = [fact for fact in facts if isinstance(fact, f.ExportFailed)]
    assert len(failed) == 6
    assert [fact.stack[-1].row for fact in failed if fact.while_tracing] == [47, 69]
    programs = [fact for fact in facts if isinstance(fact, f.ProgramExported)]
    assert [(item.ranges[0].lower, item.ranges[0].upper) for item in programs] == [("2", "64")]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_log_of_a_draft_has_places_though_its_records_have_none(version: str) -> None:
    problems = [fact for fact in facts_of(f"draft-{version}") if isinstance(fact, f.ExportProblem)]
    assert {item.stack[-1].filename for item in problems} == {"/home/user/project/exports.py"}
    assert [(item.kind, item.subject, item.stack[-1].row) for item in problems] == [
        ("missing-fake-kernel", "shop::twice", 74),
        ("mismatched-fake-kernel", "shop::thrice", 75),
        ("data-dependent", "u3 > 3", 77),
    ]
    assert problems[2].detail == "True"


@pytest.mark.parametrize("version", VERSIONS)
def test_code_that_is_compiled_ahead_of_time_has_kernels_with_their_lines(version: str) -> None:
    (code,) = (fact for fact in facts_of(f"export-{version}") if isinstance(fact, f.CodeGenerated))
    assert (code.compile_id, code.language) == ("export/0", "cpp")
    lines = code.text.splitlines()
    extern, fused = code.kernels
    assert extern.name == "aoti_torch_cpu_addmm_out"
    assert {node.operator for node in fused.nodes} == {"aten.relu", "aten.sin", "aten.sum", "aten.add"}
    for kernel in code.kernels:
        assert f"{kernel.name}(" in lines[kernel.launch[0] - 1]
    assert fused.definition is not None
    first, last = fused.definition
    assert "\n".join(lines[first - 1 : last]) == fused.source
    assert {stack[-1].row for stack in fused.stacks} == {40, 41}
    assert [stack[0].row for stack in extern.stacks] == [40]


def test_triton_kernels_stand_in_comments_of_the_wrapper() -> None:
    (code,) = (fact for fact in facts_of("export-2.11-gpu") if isinstance(fact, f.CodeGenerated))
    library, fused = code.kernels
    assert (library.name, library.language) == ("aoti_torch_cuda_mm_out", "extern")
    assert (fused.language, fused.heuristic, fused.grid) == ("triton", "persistent_reduction", "Grid1D")
    assert fused.source.startswith("\nimport triton\n".strip())
    assert fused.source.splitlines()[-1].startswith("    tl.store(")
    lines = code.text.splitlines()
    assert f"call_{fused.name}(" in lines[fused.launch[0] - 1]
    assert "[Provenance debug handles]" in lines[fused.launch[0] - 2]
    assert {stack[-1].row for stack in fused.stacks} >= {11, 12}


def test_an_export_that_another_follows_has_failed_and_one_with_a_program_has_not() -> None:
    begin, end = record("export", "start!"), record("exported_program", "ExportedProgram:\n")
    kinds = [type(fact).__name__ for fact in fed(begin, begin, end)]
    assert kinds == ["ExportFailed", "GraphCaptured", "ProgramExported"]


def test_a_compilation_after_a_failed_export_is_not_taken_for_a_part_of_it() -> None:
    frame = {"line": 3, "name": "f", "filename": 0}
    facts = fed(
        record("export"),
        TraceRecord("str", ("/w/a.py", 0), "", 0, ""),
        record("dynamo_start", compile_id="0/0", stack=[frame]),
        record("guard_on_data_dependent_error", compile_id="0/0", expr="u0 > 3", stack=[frame]),
    )
    assert [type(fact).__name__ for fact in facts] == ["FrameStarted", "ExportFailed"]


def test_code_that_no_program_of_the_log_has_is_one_of_its_own() -> None:
    place = "    # File: /w/a.py:3 in forward, code: x + 1"
    graph = f'{place}\n    add: "f32[2]" = torch.ops.aten.add.Tensor(x, 1)\n'
    body = {"name": "inductor_aot_wrapper_code", "filename": "/tmp/a.cpp"}
    wrapper = TraceRecord("graph_dump", body, "", 0, "")
    facts = fed(record("before_pre_grad_graph", graph), wrapper)
    assert [(type(fact).__name__, fact.compile_id) for fact in facts] == [  # type: ignore[union-attr]
        ("FrameStarted", "aot/0"),
        ("GraphCaptured", "aot/0"),
        ("FrameCompiled", "aot/0"),
        ("Artifact", "aot/0"),
        ("CodeGenerated", "aot/0"),
    ]
