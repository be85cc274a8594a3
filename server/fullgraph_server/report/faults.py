"""Results of a run through the stages: faults as findings, the stages of a graph as lines, the verdict."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from fullgraph_compiler.facts import Fact, Failure, FaultLocated, StageChecked

from ..text import exports
from ..text.messages import counted, first_line
from ..text.tables import aligned
from .finding_builder import FindingBuilder
from .model import Finding, FindingKind, Report

_PARTS = {
    "eager": "Dynamo, which captures the graph",
    "aot_eager": "AOTAutograd, which traces the graph's forward and backward",
    "aot_eager_decomp_partition": "a decomposition, or the partitioner, which splits forward from backward",
    "inductor": "TorchInductor, which lowers the graph to kernels",
}
_BISECTION = re.compile(r", \d+: ")
"""Between the part that torch's bisector names and the operation: how many it has counted."""
_OUTCOMES = {"error": "fails", "accuracy": "wrong result", "crash": "crashes", "hang": "hangs"}


def add_faults(
    builders: Sequence[FindingBuilder],
    facts: Sequence[Fact],
    finding: Callable[[FaultLocated, FindingKind], Finding],
) -> list[FindingBuilder]:
    """Add each located fault: to the builder of the same failure, else as a finding of its own.

    ``finding`` makes the bare finding of a fault, at its place.
    """
    stages = [fact for fact in facts if isinstance(fact, StageChecked)]
    own: dict[tuple[object, ...], FindingBuilder] = {}
    for fault in sorted((fact for fact in facts if isinstance(fact, FaultLocated)), key=_number):
        builder = _same_failure(builders, fault)
        if builder is not None and not builder.finding.fault:
            builder.finding = replace(builder.finding, message=_added_to(builder.finding, fault))
        elif builder is None:
            made = finding(fault, _kind(fault))
            builder = own.setdefault((made.code, made.span, made.message), FindingBuilder(made))
        if not builder.finding.fault:
            builder.finding = _explained(builder.finding, fault, stages)
        builder.compile_ids |= {fault.compile_id} - {""}
    failing_lines = {_line(builder) for builder in own.values() if builder.finding.kind == "target-error"}
    # Where the program fails by itself, it is no news that it fails in the compiler as well.
    return [
        *(builder for builder in builders if builder.finding.fault or _line(builder) not in failing_lines),
        *own.values(),
    ]


def fault_message(fault: FaultLocated) -> str:
    """Describe a fault in one sentence: what fails, how, and what still passes."""
    message = _failing(fault)
    if fault.operator is not None:
        message = f"{exports.false_declaration(fault.operator.name)}: {message}"
    if fault.passes:
        message += f"; {_named(fault.passes)} passes"
    return message


def stage_lines(stages: Iterable[StageChecked]) -> list[str]:
    """Return the lines of a table: each stage, its outcome and its seconds."""
    rows = [(stage.stage, outcome(stage.failure), f"{stage.seconds:.1f} s") for stage in stages]
    return aligned(rows, "<<>")


def verdict(report: Report) -> str:
    """Summarize a run through the stages in one sentence, with the graphs that it could not check."""
    return "; ".join(filter(None, (_conclusion(report), unchecked_words(report))))


def unchecked_words(report: Report) -> str:
    """Count the graphs that were not checked, and say why: ``1 graph not checked, because ...``."""
    graphs_by_reason: dict[str, list[str]] = defaultdict(list)
    for graph in report.unchecked:
        graphs_by_reason[first_line(graph.reason).rstrip(".")].append(graph.compile_id)
    return "; ".join(
        f"{counted(len(graphs), 'graph')} not checked ({', '.join(graphs)}), because {reason}"
        for reason, graphs in graphs_by_reason.items()
    )


def _conclusion(report: Report) -> str:
    """Summarize what was checked; empty if that was nothing."""
    located = [finding for finding in report.findings if finding.fault]
    if located:
        first = min(located, key=lambda finding: finding.fault)
        more = f" (and {len(located) - 1} more)" if len(located) > 1 else ""
        return first.message + more
    if report.status == "cancelled":
        return "Stopped before every stage was checked."
    if report.problem is not None:
        return report.problem.message
    graphs = len({stage.compile_id for stage in report.stages if stage.compile_id})
    passing = f"{graphs} {'graph passes' if graphs == 1 else 'graphs pass'}"
    if report.unchecked:
        return f"{passing} all stages" if graphs else ""
    if not graphs:
        return "No stage is at fault: no graph was captured."
    return f"No stage is at fault: {passing} all of them."


def _line(builder: FindingBuilder) -> tuple[str, int]:
    return builder.finding.span.filename, builder.finding.span.row


def _same_failure(builders: Iterable[FindingBuilder], fault: FaultLocated) -> FindingBuilder | None:
    """Return the builder of the same failure, if the run met it by itself."""
    if fault.failure.kind == "accuracy":
        return None
    if fault.stage == "uncompiled":
        kinds: tuple[FindingKind, ...] = ("target-error",)
    elif fault.stage == "eager":
        # What raises only under Dynamo may be the program's own exception.
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
    """Return the message of an existing finding, completed by its fault."""
    if finding.kind == "compile-error":
        return fault_message(fault)
    if fault.passes:
        return f"{finding.message.rstrip('.')}; {_named(fault.passes)} passes"
    return finding.message


def _explained(finding: Finding, fault: FaultLocated, stages: Iterable[StageChecked]) -> Finding:
    """Return the finding with the part at fault and the stages in its explanation."""
    hints = finding.hints
    if fault.operator is not None:
        cause = exports.operator_fault(fault.operator)
        hints = (*exports.operator_hints(fault.operator), *hints)
    elif fault.stage == "uncompiled":
        cause = "It fails without torch.compile too: the compiler is not at fault."
    else:
        cause = f"The fault is in {_PARTS.get(fault.stage, f'the backend {fault.stage}')}."
    if fault.detail:
        cause += f" torch's bisector names {fault.detail}."
    own = [stage for stage in stages if stage.compile_id in ("", fault.compile_id)]
    table = "\n".join(f"    {line}" for line in stage_lines(own))
    explanation = "\n\n".join(part for part in (cause, table, finding.explanation) if part)
    return replace(finding, fault=fault.number, explanation=explanation, hints=hints)


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
    if fault.stage == "uncompiled":
        return "target-error"
    if fault.failure.kind == "accuracy":
        return "accuracy"
    return "capture-error" if (fault.stage, fault.failure.kind) == ("eager", "error") else "compile-error"


def _named(stage: str) -> str:
    return {"uncompiled": "the uncompiled program", "inductor": "TorchInductor"}.get(stage, stage)


def outcome(failure: Failure | None) -> str:
    """Name an outcome in a word or two; without a failure it is ``passes``."""
    return _OUTCOMES[failure.kind] if failure else "passes"


def _number(fault: FaultLocated) -> int:
    return fault.number
