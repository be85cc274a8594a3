"""Findings about recompilations: guarded values that changed, and the limit on recompilations.

One finding is made for each property of a value that changed, however often it did.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from fullgraph_compiler.facts import (
    Fact,
    GuardFailure,
    GuardInstalled,
    LateCompilation,
    Recompile,
    RecompileLimit,
    ShapeGuard,
    Specialization,
    Stack,
    StackFrame,
)
from fullgraph_compiler.trace import frame_of
from fullgraph_compiler.trace.changes import completed

from ..text import advice, messages
from ..text.outlook import outlook
from ..text.source_names import compile_number
from ..workspace.positions import Span
from ..workspace.workspace import Workspace
from .finding_builder import FindingBuilder
from .model import Finding, Report
from .sizes import condition_behind, specialization_behind
from .source_locator import Place, Places

_ONE_KIND = {advice.SPECIALIZED: "TENSOR_MATCH", "TRUE_MATCH": "BOOL_MATCH", "FALSE_MATCH": "BOOL_MATCH"}
"""Kinds of guards on one property of a value, by which of its values was met first."""


@dataclass(slots=True)
class _Group:
    """The recompilations that one property of one guarded value caused, by compile id."""

    place: Place
    failures: dict[str, GuardFailure] = field(default_factory=dict)


def late_compilation_verdict(report: Report) -> str:
    """Summarize in one sentence a run that may not compile after its warm-up."""
    late = [finding for finding in report.findings if finding.kind == "late-compile"]
    calls, places = sum(finding.count for finding in late), len({finding.span for finding in late})
    if not late:
        problem = next((finding for finding in report.findings if finding.severity == "error"), None)
        if problem is not None and report.status not in ("finished", "exited"):
            return problem.message
        return "No call needs a compilation after the warm-up."
    need = "needs" if calls == 1 else "need"
    where = "" if places == calls else f", from {messages.counted(places, 'place')}"
    return f"{messages.counted(calls, 'call')} {need} a compilation after the warm-up{where}."


class Recompilations:
    """The guards of a run, and the recompilations that failed guards caused."""

    def __init__(self, facts: Sequence[Fact], places: Places, workspace: Workspace) -> None:
        self._facts = facts
        self._places = places
        self._workspace = workspace
        self.guards: dict[str, list[GuardInstalled]] = defaultdict(list)
        self._conditions: dict[str, list[ShapeGuard]] = defaultdict(list)
        self._constants: dict[str, list[Specialization]] = defaultdict(list)
        self._completed: dict[tuple[str, tuple[GuardFailure, ...]], Sequence[GuardFailure]] = {}
        for fact in facts:
            if isinstance(fact, GuardInstalled):
                self.guards[fact.compile_id].append(fact)
            elif isinstance(fact, ShapeGuard):
                self._conditions[fact.compile_id].append(fact)
            elif isinstance(fact, Specialization):
                self._constants[fact.compile_id].append(fact)

    def builders(self) -> Iterator[FindingBuilder]:
        """Build a finding for each property of a value that changed."""
        groups: dict[tuple[object, ...], _Group] = {}
        for fact in self._facts:
            if isinstance(fact, Recompile):
                for failure in self.completed(fact.failures, fact.compile_id):
                    place = self._place(fact.compile_id, failure)
                    subject = messages.cause_of(failure)
                    kind = _ONE_KIND.get(failure.kind, failure.kind)
                    key = (place.span, subject, kind, failure.changed, failure.dimension)
                    groups.setdefault(key, _Group(place)).failures[fact.compile_id] = failure
        for group in groups.values():
            failures = list(group.failures.values())
            finding = Finding(
                "recompile",
                "recompile",
                "information",
                messages.recompile_message(failures),
                group.place.span,
                hints=self.hints(failures[0]),
                stack=group.place.calls,
                text="\n".join(dict.fromkeys(failure.reason for failure in failures)),
            )
            yield FindingBuilder(finding, set(group.failures))

    def late_compilations(self) -> Iterator[FindingBuilder]:
        """Build a finding, at the call, for each call and cause of a compilation after the warm-up."""
        groups: dict[tuple[Span | None, str, object], list[tuple[LateCompilation, GuardFailure | None]]] = {}
        for fact in self._facts:
            if isinstance(fact, LateCompilation):
                # Compilations that were made later come last, and are more like this call.
                failure = next(reversed(self.completed(fact.failures, "")), None)
                span = self._places.own_span(fact.stack)
                cause = (failure.source, failure.kind, failure.changed, failure.dimension) if failure else ""
                groups.setdefault((span, fact.function, cause), []).append((fact, failure))
        for group in groups.values():
            fact = group[0][0]
            failures = [failure for _, failure in group if failure is not None]
            place = self._places.place((*fact.stack, StackFrame(fact.filename, fact.row, fact.function)), "")
            calls = self._places.place(fact.stack, "") if fact.stack else place
            yield FindingBuilder(
                Finding(
                    "late-compile",
                    "late-compile",
                    "error",
                    messages.late_compilation_message(fact.function, failures),
                    calls.span,
                    hints=self.hints(failures[0]) if failures else (advice.CALL_AHEAD,),
                    stack=place.calls,
                    text="\n".join(dict.fromkeys(failure.reason for failure in failures)),
                ),
                set(),
                calls=len(group),
            )

    def hints(self, failure: GuardFailure) -> tuple[str, ...]:
        """Advise on a guard that failed, from what the compilations of its function say."""
        frame, compile_id = frame_of(failure.compile_id), failure.compile_id
        ids = sorted((key for key in self.guards if frame_of(key) == frame), key=compile_number)
        seen = outlook(failure, {key: self.guards[key] for key in ids})
        names = (failure.source, *(source for source, _ in seen.sizes))
        seen = replace(
            seen,
            at_call=all(self._places.at_call(name, compile_id) for name in names),
            has_loader=self._places.mentions("DataLoader(", compile_id),
        )
        return advice.recompile_hints(failure, seen)

    def causes(self, limit: RecompileLimit) -> list[GuardFailure]:
        """List why a frame was compiled so often: the new cause of each of its recompilations."""
        frame = frame_of(limit.compile_id)
        again = [
            fact for fact in self._facts if isinstance(fact, Recompile) and frame_of(fact.compile_id) == frame
        ]
        reasons = [(fact.failures, fact.compile_id) for fact in again]
        reasons.append((limit.failures, limit.compile_id))
        return [self.completed(*item)[-1] for item in reasons if item[0]]

    def completed(self, failures: tuple[GuardFailure, ...], compile_id: str) -> Sequence[GuardFailure]:
        """Complete the failed guards that led to a compilation from the installed guards.

        Every earlier compilation has a failure: the last one has the new cause.
        """
        key = (compile_id, failures)
        if key not in self._completed:
            self._completed[key] = list(self._complete(failures, compile_id))
        return self._completed[key]

    def _complete(self, failures: Iterable[GuardFailure], compile_id: str) -> Iterator[GuardFailure]:
        for failure in sorted(failures, key=lambda failure: compile_number(failure.compile_id)):
            before, after = self.guards[failure.compile_id], self.guards[compile_id]
            failure = completed(failure, before, after)
            condition = condition_behind(failure, self._conditions[failure.compile_id])
            if condition is not None:
                kind = failure.kind if failure.source else advice.RELATION
                failure = replace(failure, stack=condition.stack, kind=kind)
            # Torch tries a dynamic size the second time, which the code may turn into a number again.
            constants = (*self._constants[failure.compile_id], *self._constants[compile_id])
            if specialization_behind(failure, constants) is not None:
                failure = replace(failure, kind=advice.SPECIALIZED)
            yield failure

    def _place(self, compile_id: str, failure: GuardFailure) -> Place:
        """Find where the guarded name was first needed; its place in the parameters if that is not known."""
        stack = failure.stack or self._guard_stack(failure)
        own = self._places.own_frame(compile_id)
        contains = self._workspace.contains
        if own and contains(own[0].filename) and not any(contains(frame.filename) for frame in stack):
            stack = own  # a line of a library says less than the function that was compiled
        place = self._places.place(stack, compile_id)
        span = self._places.name_span(self._places.full_stack(stack, compile_id), failure.source)
        return replace(place, span=span or place.span)

    def _guard_stack(self, failure: GuardFailure) -> Stack:
        guards = (guard for guard in self.guards[failure.compile_id] if guard.source == failure.source)
        return next((guard.stack for guard in guards if guard.stack), ()) if failure.source else ()
