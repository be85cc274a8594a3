"""The tools that report what torch.compile did in a target's new or last run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from fullgraph_compiler.facts import Depth

from ..compare.comparison import compare
from ..compare.comparison_texts import sentence as comparison_sentence
from ..fixes.changes import counts_of, fixable
from ..fixes.model import RuleContext, RunCounts
from ..fixes.rules.catalogue import candidates
from ..kinds import KINDS
from ..report.kernels import (
    by_kernel,
    codes_words,
    cost_words,
    count_launches,
    operators,
    spans_of,
    total_cost,
)
from ..report.model import Finding, GeneratedCode, KernelLaunch, Report
from ..report.profile import RecompileCause, RecompileProfile, cost, profiles, sentence
from ..text.messages import counted, what_changed
from ..workspace.positions import TRACE, Span
from .answers import (
    AmountEntry,
    CauseEntry,
    CheckAnswer,
    CompareAnswer,
    CountsEntry,
    ExplainAnswer,
    FindingEntry,
    FunctionEntry,
    KernelAnswer,
    KernelEntry,
    RecompileAnswer,
)
from .tool_calls import AgentRun, ToolCall, ToolError

_T = TypeVar("_T")

MOST: Final = 20
"""The most items of a list in an answer."""
_MOST_OF_EACH: Final = 5
_SHORT, _LONG = 400, 6000
"""The most characters of a listed item's text, and of a text that was requested."""
_ROWS_AROUND: Final = 4


async def check_target(call: ToolCall, target: str, offset: int = 0) -> CheckAnswer:
    """Run a target and list its findings.

    With an ``offset``, run nothing, and list the last run's findings from this index on.
    """
    ran = await _ran(call, target, "graph", offset, "check_target")
    report = ran.report
    ids = call.ids(report)
    shown, left_out = paged([*ids], offset, "finding", "check_target")
    can_be_fixed = fixable(report) if report.repeatable and not report.dry else []
    return CheckAnswer(
        target,
        report.status or "",
        round(report.seconds, 2),
        report.torch,
        counts(counts_of(report)),
        tuple(_found(name, ids[name], report, ids[name] in can_be_fixed) for name in shown),
        left_out,
        _next_of_check(report, bool(can_be_fixed)),
    )


async def explain_finding(call: ToolCall, target: str, finding: str) -> ExplainAnswer:
    """Return everything that is known about a finding of the last check; run nothing."""
    ran, found = call.finding(target, finding)
    report = ran.report
    is_fixable = found in fixable(report)
    titles = [fix.title for fix in candidates(found, RuleContext(report, report.files))] if is_fixable else []
    return ExplainAnswer(
        finding,
        found.kind,
        clipped(found.message, _LONG),
        KINDS[found.kind].meaning,
        clipped(found.explanation, _LONG),
        tuple(clipped(hint, _SHORT * 2) for hint in found.hints[:_MOST_OF_EACH]),
        found.url,
        _around(report, found.span),
        tuple(
            f"{call.row(report, item.filename, item.row)} in {item.function}"
            for item in reversed(found.stack[-MOST:])
        ),
        "" if found.explanation else clipped(found.text, _LONG),
        tuple(dict.fromkeys(titles)),
        "Call list_fixes with this finding to try these edits, or try_edit with a diff of your own."
        if titles
        else "Edit the code as the hints say, and prove the edit with try_edit.",
    )


async def find_recompiles(call: ToolCall, target: str, offset: int = 0) -> RecompileAnswer:
    """Run a target, and list why its functions recompile.

    In this run, each function keeps only one compilation.
    """
    ran = await _ran(call, target, "recompiles", offset, "find_recompiles")
    report = ran.report
    shown, left_out = paged(profiles(report), offset, "function", "find_recompiles")
    return RecompileAnswer(
        target,
        report.status or "",
        _with_problem(sentence(report), report),
        tuple(_recompiled(call, report, item) for item in shown),
        left_out,
        "Do what the hints say and prove it with try_edit; list_fixes tries known edits." if shown else "",
    )


async def show_kernels(call: ToolCall, target: str, kernel: str = "", offset: int = 0) -> KernelAnswer:
    """Run a target until its kernels are written, and list them.

    With ``kernel`` or an ``offset``, run nothing: return the kernel's source from the last run, or list the
    last run's kernels from this index on.
    """
    ran = await _ran(call, target, "kernels", offset or bool(kernel), "show_kernels")
    report = ran.report
    rows = [(code, launches) for code in report.codes for launches in by_kernel(code).values()]
    rows.sort(key=lambda row: _weight(row[1]), reverse=True)
    source = ""
    if kernel:
        source = next((launches[0].source for _, launches in rows if launches[0].name == kernel), "")
        if not source:
            raise ToolError(
                f"The last run of {target} has no source of a kernel {kernel}: list all with show_kernels."
            )
    shown, left_out = paged(rows, offset, "kernel", "show_kernels")
    return KernelAnswer(
        target,
        report.status or "",
        _with_problem(codes_words(report.codes), report),
        () if kernel else tuple(_kernel(call, report, *row) for row in shown),
        clipped(source, _LONG * 2),
        "" if kernel else left_out,
        "Call show_kernels with the name of a kernel for its source." if shown and not kernel else "",
    )


async def compare_runs(call: ToolCall, before: str, after: str = "") -> CompareAnswer:
    """Compare the last check of ``before`` with a new check of ``after``.

    By default, ``before`` is checked again. ``before`` can be a trace, ``after`` another target or a trace.
    """
    if before.startswith(TRACE):
        old = await call.run(before, "graph")
    else:
        old = call.last(before)
    new = await call.run(after or before, "graph")
    roots = (old.plan.workspace.root, new.plan.workspace.root)
    compared = compare(old.report, new.report, *roots)
    added, removed = ([item.finding for item in items] for items in (compared.new, compared.gone))
    shown, more_new = paged(added, 0, "new finding", "")
    gone, more_gone = paged(removed, 0, "finding that is gone", "", "findings that are gone")
    left_out = " ".join(filter(None, (more_new, more_gone)))
    return CompareAnswer(
        comparison_sentence(compared),
        compared.worse,
        _all_found(call, shown, new.report),
        _all_found(call, gone, old.report),
        tuple(AmountEntry(item.name, item.before, item.after) for item in compared.counts),
        f"{left_out} Call check_target for all findings of the newer run." if left_out else "",
        "Call explain_finding for a new finding." if shown else "",
    )


# -- parts that other tools use, too -----------------------------------------------------------


def counts(counted: RunCounts) -> CountsEntry:
    """Return the counts of a run in the form of an answer."""
    return CountsEntry(counted.graphs, counted.breaks, counted.recompiles)


def clipped(text: str, most: int = _SHORT) -> str:
    """Return a text, cut after ``most`` characters, with a note on what is left out."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"


def paged(items: Sequence[_T], offset: int, one: str, tool: str, many: str = "") -> tuple[Sequence[_T], str]:
    """Return the items for an answer, and a note on items that are left out.

    The note says how many items are left out and how to get them. Raises :class:`ToolError` for a wrong
    ``offset``.
    """
    if offset < 0 or (offset and offset >= len(items)):
        raise ToolError(f"There is no {one} {offset}: the last run has {len(items)}.")
    shown = items[offset : offset + MOST]
    if not (more := len(items) - offset - len(shown)):
        return shown, ""
    how = f": call {tool} with offset={offset + MOST}, which runs nothing." if tool else "."
    return shown, f"{counted(more, one, many)} more{how}"


# -- findings ----------------------------------------------------------------------------------


async def _ran(call: ToolCall, target: str, depth: Depth, again: bool | int, tool: str) -> AgentRun:
    """Run a target; if ``again`` is true, return its last run instead."""
    return call.last(target, depth, tool) if again else await call.run(target, depth)


def _found(name: str, finding: Finding, report: Report, is_fixable: bool) -> FindingEntry:
    source = report.files.get(finding.span.filename)
    line = source.line(finding.span.row).strip() if source and not finding.of_run else ""
    hint = next(iter(finding.hints), "")
    return FindingEntry(
        name,
        finding.kind,
        finding.severity,
        clipped(finding.message),
        clipped(line),
        finding.count,
        clipped(hint),
        is_fixable,
    )


def _all_found(call: ToolCall, findings: Sequence[Finding], report: Report) -> tuple[FindingEntry, ...]:
    names = {id(finding): name for name, finding in call.ids(report).items()}
    can_be_fixed = fixable(report) if report.repeatable else []
    return tuple(_found(names[id(item)], item, report, item in can_be_fixed) for item in findings)


def _next_of_check(report: Report, can_be_fixed: bool) -> str:
    if report.problem is not None:
        return "The run did not finish: fix the first error, and check again."
    if can_be_fixed:
        return "Call list_fixes for proven edits, or explain_finding for one finding."
    return "Call explain_finding for one finding." if report.findings else "Nothing is left to fix."


def _with_problem(summary: str, report: Report) -> str:
    problem = report.problem
    return f"{summary} {clipped(problem.message)}" if problem is not None else summary


def _around(report: Report, span: Span) -> str:
    source = report.files.get(span.filename)
    if source is None:
        return ""
    first, last = max(span.row - _ROWS_AROUND, 1), min(span.row + _ROWS_AROUND, len(source.lines))
    rows = range(first, last + 1)
    return "\n".join(
        f"{'>' if row == span.row else ' '} {source.place(row)} {clipped(source.line(row))}" for row in rows
    )


# -- recompilations and kernels ----------------------------------------------------------------


def _recompiled(call: ToolCall, report: Report, profile: RecompileProfile) -> FunctionEntry:
    frame = profile.frame
    return FunctionEntry(
        frame.qualname,
        call.row(report, frame.filename, frame.row),
        cost(profile),
        tuple(_cause(call, report, cause) for cause in profile.causes[:_MOST_OF_EACH]),
        tuple(
            f"{call.row(report, span.filename, span.row)}, {counted(count, 'time')}"
            for span, count in profile.callers[:_MOST_OF_EACH]
        ),
    )


def _cause(call: ToolCall, report: Report, cause: RecompileCause) -> CauseEntry:
    finding = cause.finding
    hints = tuple(clipped(hint, _SHORT * 2) for hint in finding.hints[:_MOST_OF_EACH])
    return CauseEntry(
        cause.count, call.place(report, finding.span), clipped(what_changed(finding.message)), hints
    )


def _kernel(
    call: ToolCall, report: Report, code: GeneratedCode, launches: Sequence[KernelLaunch]
) -> KernelEntry:
    total = total_cost(launches)
    lines = dict.fromkeys(call.row(report, span.filename, span.row) for span in spans_of(launches))
    return KernelEntry(
        launches[0].name,
        f"{code.compile_id} {code.phase}".strip(),
        count_launches(launches),
        clipped(operators(launches)),
        tuple(lines)[:MOST],
        cost_words(total, count_launches(launches)) if total else "",
    )


def _weight(launches: Sequence[KernelLaunch]) -> tuple[float, int]:
    total = total_cost(launches)
    return (total.seconds or 0.0, total.read + total.written) if total else (0.0, 0)
