"""Faults that the stages have located, folded into findings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CompileFailure,
    Drawn,
    Fact,
    Failure,
    FaultLocated,
    FrameStarted,
    GraphCaptured,
    GraphUnchecked,
    Noise,
    OperatorFault,
    ProgramRaised,
    RerunsSkipped,
    RunFinished,
    SettingFault,
    Stack,
    StackFrame,
    StageChecked,
    TargetProblem,
)
from fullgraph_server.report.faults import open_words, stage_lines, verdict
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

FILE = "/w/toy.py"
TOY = """\
import torch

def f(x):
    y = x.sin()
    return y.relu()

torch.compile(f)(torch.ones(3))
"""
WORKSPACE = Workspace(Path("/w"), {FILE: SourceFile(FILE, TOY)}.get)
RELU = (StackFrame(FILE, 5, "f", 11, 5, 19),)
MODULE = (StackFrame(FILE, 7, "<module>"),)
PARTITION = "aot_eager_decomp_partition"

ERROR = Failure("error", "LoweringException", "NotImplementedError: no.\nmore", text="Traceback: no")
WRONG = Failure("accuracy", "Numbers", "gradient of x is off by 0.5", "backward")
SEGFAULT = Failure("crash", "SIGSEGV", "segmentation fault")
HANG = Failure("hang", "timeout", "no end within 60 s")
OTHERWISE = Failure("accuracy", "Output", "it prints `1`, but `2` uncompiled")
ONE_CALL = "with the inputs of one call"
ONE_PASSES = f"1 graph passes all stages, by itself, {ONE_CALL}"


def folded(*facts: Fact) -> Report:
    started = FrameStarted("0/0", "f", FILE, 3, MODULE)
    return fold("toy.py", 3, "2.13.0", (started, *facts, RunFinished("finished", 2.0)), WORKSPACE)


def located(
    failure: Failure,
    stage: str = "inductor",
    passes: str = PARTITION,
    compile_id: str = "0/0",
    number: int = 1,
    stack: Stack = RELU,
    detail: str = "",
) -> FaultLocated:
    return FaultLocated(number, stage, passes, failure, compile_id, stack, detail)


def only(report: Report) -> Finding:
    assert len(report.findings) == 1, report.findings
    return report.findings[0]


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        (
            located(ERROR),
            "compile-error",
            f"TorchInductor fails: LoweringException: NotImplementedError: no; {PARTITION} passes",
        ),
        (
            located(replace(ERROR, message="N/A"), detail="lowerings, 2: aten.relu"),
            "compile-error",
            f"TorchInductor (lowerings: aten.relu) fails: LoweringException: N/A; {PARTITION} passes",
        ),
        (
            located(WRONG, "aot_eager", "eager"),
            "accuracy",
            "wrong result in aot_eager: gradient of x is off by 0.5; eager passes",
        ),
        (located(SEGFAULT), "compile-error", f"TorchInductor crashes (SIGSEGV); {PARTITION} passes"),
        (
            located(HANG, "my_backend"),
            "compile-error",
            f"my_backend hangs: no end within 60 s; {PARTITION} passes",
        ),
        (
            located(Failure("error", "RuntimeError", "no", "backward"), "aot_eager", "eager"),
            "compile-error",
            "aot_eager fails in backward: RuntimeError: no; eager passes",
        ),
        (
            located(ERROR, "eager", "uncompiled", ""),
            "capture-error",
            "Dynamo fails: LoweringException: NotImplementedError: no; the uncompiled program passes",
        ),
        (
            located(WRONG, "eager", "uncompiled", ""),
            "accuracy",
            "wrong result in Dynamo: gradient of x is off by 0.5; the uncompiled program passes",
        ),
        (
            located(SEGFAULT, "uncompiled", "", ""),
            "target-error",
            "the uncompiled program crashes (SIGSEGV)",
        ),
    ],
)
def test_a_fault_is_a_finding_on_its_line(fault: FaultLocated, kind: str, message: str) -> None:
    finding = only(folded(fault))
    assert (finding.kind, finding.code, finding.severity) == (kind, kind, "error")
    assert finding.message == message
    assert finding.span == Span(FILE, 5, 12, 5, 20)
    assert finding.fault == 1
    assert finding.text == fault.failure.text
    assert finding.minifiable == (kind != "target-error")
    assert finding.has_graph == bool(fault.compile_id)


def test_a_fault_without_a_line_stands_on_its_function() -> None:
    assert only(folded(located(ERROR, stack=()))).span == Span(FILE, 3, 5, 3, 6)


def test_the_explanation_names_the_part_and_shows_the_stages_of_the_graph() -> None:
    report = folded(
        StageChecked("uncompiled", "", None, 0.24),
        StageChecked("eager", "", None, 0.5),
        StageChecked("aot_eager", "0/0", None, 1),
        StageChecked("aot_eager", "1/0", SEGFAULT, 1),
        StageChecked("inductor", "0/0", WRONG, 12),
        located(WRONG),
    )
    assert only(report).explanation == (
        "The fault is in TorchInductor, which lowers the graph to kernels.\n\n"
        "    uncompiled  passes         0.2 s\n"
        "    eager       passes         0.5 s\n"
        "    aot_eager   passes         1.0 s\n"
        "    inductor    wrong result  12.0 s"
    )
    assert [stage.compile_id for stage in report.stages] == ["", "", "0/0", "1/0", "0/0"]


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Argument x is not defined as mutable but was mutated", "`mutates_args`"),
        ("Stride mismatch!", 'register_fake("mine::op")'),
    ],
)
def test_an_operator_that_misleads_the_compiler_is_blamed_in_its_place(said: str, advice: str) -> None:
    finding = only(folded(replace(located(WRONG), operator=OperatorFault("mine::op", said))))
    assert finding.message.startswith("`mine::op` does not do what it declares: wrong result in ")
    assert finding.explanation == f"The compiler relies on what `mine::op` declares. torch says: {said}"
    assert advice in finding.hints[0]


def test_an_error_about_the_result_of_an_operator_names_its_fake_kernel() -> None:
    words = (
        "expected size 6==6\nError in op: torch.ops.mine.op.default\nThis comes from an incorrect fake kernel"
    )
    graph = "        # File: /w/toy.py:4 in f, code: y\n        op = torch.ops.mine.op.default(x);  x = None"
    facts = (GraphCaptured("0/0", (), graph), ProgramRaised("AssertionError", words, MODULE, ""))
    finding = only(folded(*facts))
    assert finding.span.row == 4  # the call of the operator
    assert finding.message == (
        "AssertionError: the fake kernel of `mine::op` does not match its result: expected size 6==6"
    )
    assert 'register_fake("mine::op")' in finding.hints[0]


def test_the_failure_of_the_programs_own_backend_is_not_told_twice() -> None:
    text = "the whole message"
    own = CompileFailure("0/0", "backend", "RuntimeError", "boom", RELU, hints=("do this",), text=text)
    # Whatever comes first.
    for facts in ((own, located(ERROR, "mine")), (located(ERROR, "mine"), own)):
        finding = only(folded(*facts))
        assert finding.kind == "compile-error"
        assert finding.message.startswith("mine fails: LoweringException")
        assert finding.explanation.startswith("The fault is in the backend mine.")
        assert (finding.hints, finding.text, finding.fault) == (("do this",), text, 1)
        assert finding.compile_ids == {"0/0"}


def test_the_failure_of_another_graph_is_another_finding() -> None:
    own = CompileFailure("1/0", "backend", "RuntimeError", "boom", RELU)
    assert [finding.fault for finding in folded(own, located(ERROR)).findings] == [1, 0]


def test_a_wrong_result_is_not_the_error_of_the_same_graph() -> None:
    own = CompileFailure("0/0", "backend", "RuntimeError", "boom", RELU)
    kinds = [finding.kind for finding in folded(own, located(WRONG)).findings]
    assert kinds == ["accuracy", "compile-error"]


def test_a_failed_capture_says_what_passes() -> None:
    broke = CompileFailure("0/0", "capture", "Unsupported", "print called", RELU, code="GB0059")
    finding = only(folded(broke, located(ERROR, "eager", "uncompiled")))
    assert (finding.code, finding.message) == (
        "GB0059",
        "Dynamo cannot trace `y.relu()`; the uncompiled program passes",
    )
    assert finding.explanation.startswith("The fault is in Dynamo, which captures the graph.")


def test_an_exception_that_the_program_raises_only_under_dynamo() -> None:
    raised = ProgramRaised("ValueError", "no", RELU, "Traceback")
    finding = only(folded(raised, located(Failure("error", "ValueError", "no"), "eager", "uncompiled", "")))
    assert finding.message == "ValueError: no; the uncompiled program passes"


def test_an_exception_of_the_program_itself() -> None:
    raised = ProgramRaised("ValueError", "no", RELU, "Traceback")
    fault = located(Failure("error", "ValueError", "no"), "uncompiled", "", "")
    finding = only(folded(raised, StageChecked("uncompiled", "", fault.failure, 0.1), fault))
    assert finding.message == "ValueError: no"
    assert finding.explanation == (
        "It fails with Dynamo disabled too: the compiler is not at fault.\n\n    uncompiled  fails  0.1 s"
    )
    assert not finding.minifiable


def test_a_crash_of_dynamo_leaves_nothing_to_make_a_repro_of() -> None:
    finding = only(folded(located(SEGFAULT, "eager", "uncompiled", "")))
    assert (finding.message, finding.minifiable) == (
        "Dynamo crashes (SIGSEGV); the uncompiled program passes",
        False,
    )


@pytest.mark.parametrize(
    ("alone", "words"),
    [
        (Failure("error", "ValueError", "no"), "It fails with Dynamo disabled too: the compiler is not"),
        (Failure("error", "TypeError", "no"), "Under Dynamo alone it fails in another way (TypeError)"),
        (None, "Under Dynamo alone it passes"),
    ],
)
def test_the_compiler_is_not_at_fault_if_it_fails_in_the_same_way(alone: Failure | None, words: str) -> None:
    failure = Failure("error", "ValueError", "no")
    fault = located(failure, "uncompiled", "", "")
    stages = StageChecked("uncompiled", "", failure, 0.1), StageChecked("eager", "", alone, 0.1)
    assert words in only(folded(*stages, fault)).explanation


BACKWARD = Failure("error", "RuntimeError", "a second backward")
PASSES = StageChecked("aot_eager", "0/0", None, 1.0)
COMPILED = StageChecked("compiled", "", BACKWARD, 1.0)
WHOLE = located(BACKWARD, "compiled", "uncompiled", "", stack=MODULE)


def test_a_program_that_fails_as_a_whole_is_no_fault_of_its_graphs() -> None:
    raised = ProgramRaised("RuntimeError", "a second backward", MODULE, "Traceback")
    broke = CompileFailure("0/0", "backend", "RuntimeError", "boom", MODULE)
    report = folded(PASSES, COMPILED, raised, WHOLE)
    finding = only(report)
    assert finding.message == "RuntimeError: a second backward; the uncompiled program passes"
    assert finding.explanation.startswith(
        f"The whole program fails when compiled, but not uncompiled; {ONE_PASSES}. The fault may be in "
        "something that no stage checks: guards, caches, side effects, the inputs of other calls or a second "
        "backward."
    )
    assert not finding.minifiable
    cause, _, _ = finding.explanation.partition(".\n")
    assert verdict(report) == f"{finding.message}. {cause}"
    assert len(folded(PASSES, COMPILED, broke, WHOLE).findings) == 2, "what else is on its line stays"


def test_what_was_not_checked_may_be_at_fault_as_well() -> None:
    others = GraphUnchecked("1/0", "it is x"), GraphUnchecked("", "other processes")
    explanation = only(folded(PASSES, COMPILED, *others, WHOLE)).explanation
    assert ", a second backward, a graph that was not checked or other processes." in explanation
    explanation = only(folded(COMPILED, others[1], WHOLE)).explanation
    assert "uncompiled. The fault may be in something that no stage checks: other processes." in explanation


def test_other_random_numbers_are_no_fault() -> None:
    finding = only(folded(PASSES, COMPILED, StageChecked("fallback_random", "", None, 1.0), WHOLE))
    assert finding.explanation.startswith("TorchInductor draws other random numbers than uncompiled code.")
    assert "fallback_random = True" in finding.hints[0]


def test_random_numbers_are_told_with_the_setting_that_was_tried_and_their_lines() -> None:
    drawn = Drawn("torch.randn_like", RELU), Drawn("torch.rand", (StackFrame("/lib/x.py", 1, "g"),))
    aligned = StageChecked("fallback_random", "", None, 1, OTHERWISE.message, drawn)
    stages = PASSES, StageChecked("compiled", "", OTHERWISE, 1), aligned
    assert verdict(folded(*stages)).endswith(
        "With `torch._inductor.config.fallback_random = True` the program matches the uncompiled one "
        "(tried): TorchInductor draws other random numbers by design: `torch.randn_like` (line 5 of "
        "toy.py) and `torch.rand`. This is not a fault of the program."
    )
    assert stage_lines([aligned]) == ["fallback_random  as uncompiled  1.0 s"]


def test_a_setting_without_which_a_graph_passes_is_told_with_its_default() -> None:
    setting = SettingFault("torch._functorch.config.activation_memory_budget", "0.5", "1.0")
    finding = only(folded(replace(located(WRONG, "aot_eager", "eager"), settings=(setting,))))
    assert finding.hints[0].startswith(
        "With `torch._functorch.config.activation_memory_budget = 1.0`, torch's default, the graph passes "
        "(tried); the program sets it to `0.5`."
    )


def test_rounding_noise_is_told_with_the_number_of_float64() -> None:
    noise = Noise("0/0", "float32", 2.5e8, 5.9e7, 9.1e16)
    assert "rounding noise in float32" in only(folded(PASSES, COMPILED, noise, WHOLE)).hints[0]
    said = verdict(folded(PASSES, StageChecked("compiled", "", OTHERWISE, 1), noise))
    assert "the cause is not known" not in said
    assert said.endswith(
        "A result of graph 0/0 is rounding noise in float32: 2.5e+08 compiled, 5.9e+07 uncompiled; "
        "neither is near the 9.1e+16 in float64. Compute it in float64 to compare."
    )


def test_the_last_line_says_that_a_program_that_reaches_others_did_not_run_again() -> None:
    words = "The program connects to a server or starts another program, so it did not run again to look for"
    report = folded(PASSES, StageChecked("compiled", "", OTHERWISE, 1), RerunsSkipped())
    assert f"the cause is not known. {words} a cause." in verdict(report)
    located_too = folded(located(WRONG, "eager", "uncompiled", ""), RerunsSkipped())
    assert open_words(located_too) == f"{words} a cause.", "the finding itself is shown above"
    others = GraphUnchecked("1/0", "it is x")
    assert open_words(folded(others, RerunsSkipped())).startswith(
        "1 graph not checked (1/0), because it is x. "
    )


def test_a_whole_program_ends_where_a_graph_passes() -> None:
    lines = stage_lines([StageChecked("compiled", "", None, 1), StageChecked("compiled", "", OTHERWISE, 1)])
    assert lines == ["compiled  ends              1.0 s", "compiled  prints otherwise  1.0 s"]


def test_what_fails_uncompiled_too_is_told_once() -> None:
    broke = CompileFailure("0/0", "capture", "RuntimeError", "fake tensor", RELU)
    elsewhere = CompileFailure("0/0", "backend", "RuntimeError", "boom", MODULE)
    fault = located(Failure("error", "ValueError", "no"), "uncompiled", "", "")
    messages = [finding.message for finding in folded(broke, elsewhere, fault).findings]
    assert messages == ["the uncompiled program fails: ValueError: no", "backend failed: boom"]


def test_a_warning_about_the_target_is_not_its_failure() -> None:
    warning = TargetProblem("warning", "old torch")
    assert len(folded(warning, located(ERROR, "uncompiled", "", "")).findings) == 2


def test_the_same_fault_in_several_graphs_is_one_finding_with_the_first_number() -> None:
    finding = only(folded(located(ERROR, number=2, compile_id="0/10"), located(ERROR, compile_id="0/2")))
    assert (finding.fault, finding.count, finding.compile_id) == (1, 2, "0/2")


GRAPH = GraphCaptured("0/0", ())


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ((), "No stage is at fault: no graph was captured."),
        ((StageChecked("eager", "", None, 1),), "No stage is at fault: no graph was captured."),
        (
            (StageChecked("aot_eager", "0/0", None, 1),),
            f"No stage is at fault in any graph: {ONE_PASSES}.",
        ),
        (
            (StageChecked("aot_eager", "0/0", None, 1), StageChecked("aot_eager", "1/0", None, 1)),
            f"No stage is at fault in any graph: 2 graphs pass all stages, each by itself, {ONE_CALL}.",
        ),
        (
            (
                StageChecked("aot_eager", "0/0", WRONG, 1),
                StageChecked("inductor", "0/0", None, 1),
                StageChecked("aot_eager", "1/0", None, 1),
            ),
            (
                "No stage is at fault in any graph: 1 graph passes all stages, 1 graph fails at aot_eager "
                f"only, each by itself, {ONE_CALL}."
            ),
        ),
        (
            (StageChecked("aot_eager", "0/0", None, 1), StageChecked("compiled", "", OTHERWISE, 1)),
            (
                f"No stage is at fault in any graph: {ONE_PASSES}; "
                "but the compiled program differs: it prints `1`, but `2` uncompiled; the cause is not known."
            ),
        ),
        (
            (
                StageChecked("aot_eager", "0/0", None, 1),
                StageChecked("compiled", "", OTHERWISE, 1),
                StageChecked("fallback_random", "", None, 1),
                GraphUnchecked("1/0", "it is x"),
            ),
            (
                f"{ONE_PASSES}; the compiled program differs (TorchInductor draws other "
                "random numbers than uncompiled code): it prints `1`, but `2` uncompiled; "
                "1 graph not checked (1/0), because it is x"
            ),
        ),
        (
            (StageChecked("eager", "", None, 1), GraphUnchecked("", "what other processes compile")),
            "not checked: what other processes compile",
        ),
        ((GraphUnchecked("0/0", "it is x.\nmore"),), "1 graph not checked (0/0), because it is x"),
        (
            (
                StageChecked("aot_eager", "0/0", None, 1),
                *(GraphUnchecked(f"{number}/0", "it is x") for number in (1, 2)),
                GraphUnchecked("3/0", "it is y"),
            ),
            (
                f"{ONE_PASSES}; 2 graphs not checked (1/0, 2/0), because it is x; "
                "1 graph not checked (3/0), because it is y"
            ),
        ),
        (
            (located(SEGFAULT, passes=""), GraphUnchecked("1/0", "it is x")),
            "TorchInductor crashes (SIGSEGV); 1 graph not checked (1/0), because it is x",
        ),
        (
            (located(HANG, number=2, compile_id="1/0"), located(SEGFAULT)),
            f"TorchInductor crashes (SIGSEGV); {PARTITION} passes (and 1 more)",
        ),
        ((TargetProblem("error", "The program crashed."),), "The program crashed"),
    ],
)
def test_the_verdict_is_one_sentence(facts: tuple[Fact, ...], sentence: str) -> None:
    assert verdict(folded(*facts)) == sentence


def test_the_verdict_of_a_run_that_came_to_its_time_limit_is_that() -> None:
    facts = (TargetProblem("information", "Stopped after 5 s."), RunFinished("timeout", 5.0))
    assert verdict(fold("toy.py", 3, "2.13.0", facts, WORKSPACE)) == "Stopped after 5 s"


def test_a_run_that_was_stopped_has_no_verdict() -> None:
    report = fold("toy.py", 3, "2.13.0", [RunFinished("cancelled", 2.0)], WORKSPACE)
    assert verdict(report) == "Stopped before every stage was checked."


def test_no_stages_make_no_lines() -> None:
    assert stage_lines([]) == []
