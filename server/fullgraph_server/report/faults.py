"""Results of a run through the stages: findings on faults, a table, a verdict."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

from fullgraph_compiler.facts import Failure, FaultLocated, GraphUnchecked, Noise, Stack, StageChecked

from ..kinds import FindingKind
from ..text import exports
from ..text.markdown import code_span
from ..text.messages import counted, first_line
from ..text.tables import aligned
from .facts_by_type import FactsByType
from .finding_builder import FindingBuilder
from .model import Finding, Report

_PARTS = {
    "eager": "Dynamo, which captures the graph",
    "aot_eager": "AOTAutograd, which traces the graph's forward and backward",
    "aot_eager_decomp_partition": "a decomposition, or the partitioner, which splits forward from backward",
    "inductor": "TorchInductor, which lowers the graph to kernels",
}
_MOST_DRAWN = 3
_BISECTION = re.compile(r", \d+: ")
"""The number that torch's bisector writes between the part at fault and the operation."""
_OUTCOMES = {"error": "fails", "accuracy": "wrong result", "crash": "crashes", "hang": "hangs"}
_PROGRAM = ("compiled", "fallback_random")
"""The runs of the whole program with its own backend: unchanged, and with eager code's random numbers."""
_UNSEEN = ("guards", "caches", "side effects", "the inputs of other calls", "a second backward")
"""Possible causes that no stage checks, since each graph is checked by itself with the inputs of one call."""
_OTHER_NUMBERS = "TorchInductor draws other random numbers than uncompiled code"
_EAGER_NUMBERS = (
    "With `torch._inductor.config.fallback_random = True` it draws the same ones: use that to compare, not "
    "for speed."
)

_DEFAULT = "With `{} = {}`, torch's default, the graph passes (tried); the program sets it to `{}`."

_OTHERWISE = {
    "fallback_random": (
        "With `torch._inductor.config.fallback_random = True` the program matches the uncompiled one "
        "(tried): TorchInductor draws other random numbers by design{drawn}. This is not a fault of the "
        "program."
    ),
    "emulate_precision_casts": (
        "When compiled, results in half precision differ: {}. TorchInductor keeps float32 between fused "
        "operations, which is usually closer to the exact result. With "
        "`torch._inductor.config.emulate_precision_casts = True` the results in half precision are equal "
        "(tried with `fallback_random = True`, so that random numbers are equal, too)."
    ),
    "use_numpy_random_stream": (
        "Compiled code draws NumPy's random numbers from torch: {}. With "
        "`torch._dynamo.config.use_numpy_random_stream = True` they are NumPy's own (tried)."
    ),
    "compiled anew": (
        "With each call compiled anew the program matches the uncompiled one: a graph is reused for a call "
        "that it does not fit. Which graph is not known."
    ),
}
"""Sentences for runs in which a difference disappears."""

_NOT_RERUN = (
    "The program connects to a server or starts another program, so it did not run again to look for a cause."
)


def add_faults(
    builders: Sequence[FindingBuilder],
    facts: FactsByType,
    bare: Callable[[FaultLocated, FindingKind], FindingBuilder],
) -> list[FindingBuilder]:
    """Add each located fault to the finding on the same failure, or as a new finding.

    ``bare`` builds a finding at the place of a fault. Findings of the compiler on a line where the uncompiled
    program fails are removed.
    """
    stages, unchecked, noise = facts.of(StageChecked), facts.of(GraphUnchecked), facts.of(Noise)
    own: dict[tuple[object, ...], FindingBuilder] = {}
    failing_lines: set[tuple[str, int]] = set()
    for fault in sorted(facts.of(FaultLocated), key=lambda fault: fault.number):
        builder = _same_failure(builders, fault)
        if builder is not None and not builder.finding.fault:
            builder.finding = replace(builder.finding, message=_added_to(builder.finding, fault))
        elif builder is None:
            builder = bare(fault, _kind(fault))
            made = builder.finding
            builder = own.setdefault((made.code, made.span, made.message), builder)
            if fault.stage == "uncompiled":
                failing_lines.add(_line(builder))
        if not builder.finding.fault:
            builder.finding = _explained(builder.finding, fault, stages, unchecked, builder.blame)
            if fault.stage == "compiled" and noise:
                builder.finding = replace(
                    builder.finding, hints=(_noise_words(noise[0]), *builder.finding.hints)
                )
        builder.compile_ids |= {fault.compile_id} - {""}
    # On a line where the uncompiled program fails, a failure of the compiler adds nothing.
    return [
        *(builder for builder in builders if builder.finding.fault or _line(builder) not in failing_lines),
        *own.values(),
    ]


def fault_message(fault: FaultLocated) -> str:
    """Describe a fault in one sentence: what fails, how, and what still passes."""
    message = _failing(fault)
    if fault.operator is not None:
        message = f"{code_span(fault.operator.name)} does not do what it declares: {message}"
    if fault.passes:
        message += f"; {_named(fault.passes)} passes"
    return message


def stage_lines(stages: Iterable[StageChecked]) -> list[str]:
    """Return a table of stages as lines: stage, outcome, seconds."""
    rows = [(stage.stage, _outcome_of(stage), f"{stage.seconds:.1f} s") for stage in stages]
    return aligned(rows, "<<>")


def _outcome_of(stage: StageChecked) -> str:
    if stage.otherwise:
        return "equal in half precision" if stage.stage == "emulate_precision_casts" else "as uncompiled"
    if stage.failure is None and stage.stage in _PROGRAM:
        return "ends"  # the results of this run are not compared
    return outcome(stage.failure)


def verdict(report: Report) -> str:
    """Return the summary of a run through the stages, with the unchecked graphs."""
    said = "; ".join(filter(None, (_conclusion(report), unchecked_words(report))))
    aside = [stage for stage in report.stages if stage.otherwise and stage.stage in _OTHERWISE]
    notes = [
        _OTHERWISE[stage.stage].format(stage.otherwise, drawn=_drawn_words(stage, report)) for stage in aside
    ]
    notes += [_noise_words(noise) for noise in report.noise[:1]]
    notes += [_NOT_RERUN] if report.reruns_skipped else []
    return " ".join((f"{said.rstrip('.')}.", *notes)) if notes else said


def open_words(report: Report) -> str:
    """Say which graphs were not checked, and why no runs looked for a cause.

    The text is empty if nothing was left out.
    """
    unchecked = unchecked_words(report)
    if not report.reruns_skipped:
        return unchecked
    return f"{unchecked}. {_NOT_RERUN}" if unchecked else _NOT_RERUN


def _noise_words(noise: Noise) -> str:
    """Say how far a result is from float64, compiled and uncompiled."""
    return (
        f"A result of graph {noise.compile_id} is rounding noise in {noise.dtype}: {noise.compiled:.6g} "
        f"compiled, {noise.plain:.6g} uncompiled; neither is near the {noise.exact:.6g} in float64. "
        "Compute it in float64 to compare."
    )


def _drawn_words(stage: StageChecked, report: Report) -> str:
    """Name the operations that draw different random numbers, with their lines.

    The text is empty if no such operation is known.
    """
    named = [code_span(drawn.name) + _line_words(drawn.stack, report) for drawn in stage.drawn[:_MOST_DRAWN]]
    if left := len(stage.drawn) - len(named):
        named.append(f"{left} more")
    return f": {' and '.join(named)}" if named else ""


def _line_words(stack: Stack, report: Report) -> str:
    """Name the line of the innermost call in one of the program's files, if any."""
    frames = ((frame, report.files.get(frame.filename)) for frame in reversed(stack))
    frame, source = next(((frame, source) for frame, source in frames if source), (None, None))
    return (
        f" (line {source.row_words(frame.row)} of {PurePath(source.filename).name})"
        if frame and source
        else ""
    )


def unchecked_words(report: Report) -> str:
    """Count the unchecked graphs, with reasons: ``1 graph not checked, because ...``."""
    graphs_by_reason: dict[str, list[str]] = defaultdict(list)
    for graph in report.unchecked:
        graphs_by_reason[first_line(graph.reason).rstrip(".")].append(graph.compile_id)
    return "; ".join(
        f"{counted(len(graphs), 'graph')} not checked ({', '.join(graphs)}), because {reason}"
        if any(graphs)
        else f"not checked: {reason}"
        for reason, graphs in graphs_by_reason.items()
    )


def is_incomplete(report: Report) -> bool:
    """Return whether a run through the stages left questions open, and does not pass."""
    compiled = _of_program(report.stages).get("compiled")
    is_open = any(finding.fault and finding.severity != "error" for finding in report.findings)
    return bool(report.unchecked) or is_open or (compiled is not None and compiled.failure is not None)


def _conclusion(report: Report) -> str:
    """Summarize the checks; empty if nothing was checked."""
    located = [finding for finding in report.findings if finding.fault]
    if located:
        first = min(located, key=lambda finding: finding.fault)
        compiled = _of_program(report.stages).get("compiled")
        if compiled is not None and compiled.failure is not None and compiled.failure.kind != "accuracy":
            return f"{first.message}. {_cause_compiled(report.stages, report.unchecked).rstrip('.')}"
        more = f" (and {len(located) - 1} more)" if len(located) > 1 else ""
        return first.message + more
    if report.status == "cancelled":
        return "Stopped before every stage was checked."
    if report.problem is not None:
        return report.problem.message
    printed = _printed(report)
    graphs = _passing(report.stages)
    if report.unchecked:
        return "; ".join(filter(None, (graphs, printed)))
    if not graphs:
        return "No stage is at fault: no graph was captured."
    return f"No stage is at fault in any graph: {graphs}" + (f"; but {printed}." if printed else ".")


def _passing(stages: Sequence[StageChecked]) -> str:
    """Say how many graphs pass all stages, and how many fail; empty without graphs.

    These failing graphs fail at an earlier stage only, and pass with the program's own backend.
    """
    graphs = dict.fromkeys(stage.compile_id for stage in stages if stage.compile_id)
    failing = {stage.compile_id: stage.stage for stage in stages if stage.compile_id and stage.failure}
    said = []
    if passing := len(graphs) - len(failing):
        said.append(f"{counted(passing, 'graph')} {'passes' if passing == 1 else 'pass'} all stages")
    for stage in dict.fromkeys(failing.values()):
        number = list(failing.values()).count(stage)
        said.append(f"{counted(number, 'graph')} {'fails' if number == 1 else 'fail'} at {stage} only")
    if not said:
        return ""
    alone = "by itself" if len(graphs) == 1 else "each by itself"
    return f"{', '.join(said)}, {alone}, with the inputs of one call"


def _printed(report: Report) -> str:
    """Say how the outputs of the compiled and the uncompiled program differ.

    The text is empty if they do not differ.
    """
    runs = _of_program(report.stages)
    compiled = runs.get("compiled")
    if compiled is None or compiled.failure is None or compiled.failure.kind != "accuracy":
        return ""
    cause = f" ({_OTHER_NUMBERS})" if _is_of_random_numbers(runs) else ""
    is_known = cause or report.noise or any(stage.otherwise for stage in report.stages)
    unknown = "" if is_known else "; the cause is not known"
    return f"the compiled program differs{cause}: {compiled.failure.message}{unknown}"


def _of_program(stages: Iterable[StageChecked]) -> dict[str, StageChecked]:
    return {stage.stage: stage for stage in stages if not stage.compile_id and stage.stage in _PROGRAM}


def _is_of_random_numbers(runs: dict[str, StageChecked]) -> bool:
    """Return whether the program passes with the random numbers of eager code."""
    aligned = runs.get("fallback_random")
    return aligned is not None and aligned.failure is None


def _line(builder: FindingBuilder) -> tuple[str, int]:
    return builder.finding.span.filename, builder.finding.span.row


def _same_failure(builders: Iterable[FindingBuilder], fault: FaultLocated) -> FindingBuilder | None:
    """Return the builder of a finding on the same failure as a fault, if any."""
    if fault.failure.kind == "accuracy" or fault.cause is not None:
        return None
    if fault.stage in ("uncompiled", "compiled"):
        kinds: tuple[FindingKind, ...] = ("target-error",)
    elif fault.stage == "eager":
        # The program itself can raise an exception only under Dynamo.
        kinds = ("capture-error", "target-error")
    else:
        kinds = ("compile-error",)
    same = [
        builder
        for builder in builders
        if builder.finding.kind in kinds
        and builder.finding.severity == "error"
        and (not builder.compile_ids or not fault.compile_id or fault.compile_id in builder.compile_ids)
    ]
    return min(same, key=lambda builder: kinds.index(builder.finding.kind), default=None)


def _added_to(finding: Finding, fault: FaultLocated) -> str:
    """Return the message of an existing finding, completed with the fault."""
    if finding.kind == "compile-error":
        return fault_message(fault)
    if fault.passes:
        return f"{finding.message.rstrip('.')}; {_named(fault.passes)} passes"
    return finding.message


def _explained(
    finding: Finding,
    fault: FaultLocated,
    stages: Sequence[StageChecked],
    unchecked: Sequence[GraphUnchecked],
    blame: str,
) -> Finding:
    """Return the finding with an explanation of the fault and the table of stages.

    ``blame`` is a sentence that says what is at fault for an error in Dynamo; empty if unknown.
    """
    hints, explanation = finding.hints, finding.explanation
    if fault.operator is not None:
        name = code_span(fault.operator.name)
        cause = f"The compiler relies on what {name} declares. torch says: {fault.operator.said}"
        hints = (*exports.operator_hints(fault.operator), *hints)
    elif fault.cause is not None:
        cause, explanation = explanation, ""
    elif fault.stage == "uncompiled":
        cause = _cause_uncompiled(fault.failure, stages)
    elif fault.stage == "compiled":
        hints = (_EAGER_NUMBERS, *hints) if _is_of_random_numbers(_of_program(stages)) else hints
        # The existing explanation is more specific than the cause.
        known = f"{explanation.rstrip('.')}. " if explanation else ""
        cause, explanation = f"{known}{_cause_compiled(stages, unchecked)}", ""
    elif fault.stage == "eager" and blame:
        cause, explanation = f"{blame}\n{explanation}", ""
    else:
        cause = f"The fault is in {_PARTS.get(fault.stage, f'the backend {fault.stage}')}."
        if (fault.stage, fault.failure.kind) == ("eager", "accuracy"):
            cause += " The line that causes the difference is not known."
    hints = (*(_DEFAULT.format(item.name, item.default, item.value) for item in fault.settings), *hints)
    if fault.detail:
        cause += f" torch's bisector names {fault.detail}."
    own = [stage for stage in stages if stage.compile_id in ("", fault.compile_id)]
    table = "\n".join(f"    {line}" for line in stage_lines(own))
    explanation = "\n\n".join(part for part in (cause, table, explanation) if part)
    return replace(finding, fault=fault.number, explanation=explanation, hints=hints)


def _cause_uncompiled(failure: Failure, stages: Iterable[StageChecked]) -> str:
    """Explain a failure of the uncompiled program, by comparison with other runs."""
    runs = {stage.stage: stage for stage in stages if not stage.compile_id}
    alone, itself = runs.get("eager"), runs.get("unwrapped")
    if itself is not None and itself.failure is None:
        return (
            "It also fails with Dynamo disabled, but passes when `torch.compile` returns each module "
            "itself, not an `OptimizedModule`: the compiler is not at fault."
        )
    if itself is not None and itself.failure is not None and _way(itself.failure) != _way(failure):
        return (
            "It also fails with Dynamo disabled. When `torch.compile` returns each module itself, not an "
            f"`OptimizedModule`, it fails in another way ({itself.failure.error})."
        )
    # If there is no run ``unwrapped``, the wrapper that ``torch.compile`` returns may be the cause.
    how = "with Dynamo disabled" if itself is None else "without torch.compile"
    if alone is None or (alone.failure and _way(alone.failure) == _way(failure)):
        return f"It fails {how} too: the compiler is not at fault."
    other = "passes" if alone.failure is None else f"fails in another way ({alone.failure.error})"
    return f"It fails {how}. Under Dynamo alone it {other}; the other stages were not compared."


def _way(failure: Failure) -> tuple[str, str]:
    return failure.kind, failure.error


def _cause_compiled(stages: Sequence[StageChecked], unchecked: Sequence[GraphUnchecked]) -> str:
    """Name possible causes if the whole program fails, but each graph passes."""
    if _is_of_random_numbers(_of_program(stages)):
        return f"{_OTHER_NUMBERS}."
    passing = _passing(stages)
    left = [*_UNSEEN] if passing else []
    if any(graph.compile_id for graph in unchecked):
        left.append("a graph that was not checked")
    left += [first_line(graph.reason) for graph in unchecked if not graph.compile_id]
    whole = "; ".join(filter(None, ("The whole program fails when compiled, but not uncompiled", passing)))
    if not left:
        return f"{whole}."
    listed = " or ".join(filter(None, (", ".join(left[:-1]), left[-1])))
    return f"{whole}. The fault may be in something that no stage checks: {listed}."


def _failing(fault: FaultLocated) -> str:
    failure = fault.failure
    where = "Dynamo" if fault.stage == "eager" else _named(fault.stage)
    where += f" ({_BISECTION.sub(': ', fault.detail)})" if fault.detail else ""
    backward = " in backward" if failure.phase == "backward" else ""
    message = first_line(failure.message).rstrip(".")
    if failure.kind == "accuracy":
        return f"wrong result in {where}: {message}"
    if failure.kind == "crash":
        return f"{where} crashes{backward} ({failure.error})"
    if failure.kind == "hang":
        return f"{where} hangs{backward}" + (f": {message}" if message else "")
    return f"{where} fails{backward}: " + ": ".join(part for part in (failure.error, message) if part)


def _kind(fault: FaultLocated) -> FindingKind:
    if fault.failure.kind == "accuracy":
        return "accuracy"
    if fault.stage in ("uncompiled", "compiled"):
        return "target-error"
    return "capture-error" if (fault.stage, fault.failure.kind) == ("eager", "error") else "compile-error"


def _named(stage: str) -> str:
    names = {
        "uncompiled": "the uncompiled program",
        "compiled": "the compiled program",
        "inductor": "TorchInductor",
    }
    return names.get(stage, stage)


def outcome(failure: Failure | None) -> str:
    """Name the outcome of a stage in one or two words: ``passes``, ``wrong result``."""
    if failure is not None and failure.error == "Output":
        return "prints otherwise"
    return _OUTCOMES[failure.kind] if failure else "passes"
