"""Findings about recompilations: guarded values that changed, recompile limits.

Each changed property of a value makes one finding, however often the property changed; values that changed in
the same way share a finding. Each recompilation belongs to one finding, so the counts of the findings add up
to the number of recompilations.
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from fullgraph_compiler.facts import (
    GuardFailure,
    GuardInstalled,
    LateCompilation,
    Recompile,
    RecompileLimit,
    RunFinished,
    ShapeGuard,
    Specialization,
    Stack,
)
from fullgraph_compiler.trace import frame_of
from fullgraph_compiler.trace.changes import changed_with, completed
from fullgraph_compiler.trace.reasons import FREED

from ..text import advice, messages, tensor_advice
from ..text.markdown import code_span
from ..text.outlook import changed_sizes, changed_types, length_of, outlook
from ..text.remedies import Advice, advice_on_all, sentences
from ..text.size_expressions import relation_of
from ..text.source_names import compile_number, written_name
from ..workspace.positions import Span, StackCall
from ..workspace.syntax import names
from .answers.recompiling.compiling import shared_code, static_line
from .answers.recompiling.lookups import lookup
from .answers.recompiling.recurrent import allowing_line, unrolled_layer
from .answers.recompiling.resumed import ResumeBreaks
from .facts_by_type import FactsByType
from .finding_builder import FindingBuilder
from .model import Finding, Report
from .sizes import condition_behind, specialization_behind
from .source_locator import FactLocator, FindingPlace, with_library_places
from .wrappers import LightningModules

_TENSOR_CHECKS = (
    "device", "autograd", "dispatch keys", "dtype", "requires_grad", "rank", "size", "stride"
)  # fmt: skip
"""The properties of a tensor, in the order of the checks in ``TensorCheck`` (``guards.cpp``)."""
_BY_ITSELF = ("/torch/_higher_order_ops/", "/torch/_export/")
"""Folders with functions that torch itself compiles, such as a wrapper for each call of ``torch.cond``."""
_ITEM = re.compile(r"(?:\[\d{1,9}\]){1,9}\Z")
_MOST_TOGETHER = 32
"""The most values that count as changed together; if there are more, the whole object is a different one."""
_UNKNOWN = GuardFailure("", "", "", "")


@dataclass(slots=True)
class _CauseGroup:
    """The recompilations that a change of one property of one guarded value caused.

    ``failures`` are the guard failures for that property, by compile id. ``libraries`` are the calls in
    libraries that use the value. ``others`` are failures of other guards in these recompilations, by compile
    id and property. ``together`` are failures of values that changed at the same time, by compile id.
    """

    place: FindingPlace
    failures: dict[str, GuardFailure] = field(default_factory=dict)
    libraries: list[StackCall] = field(default_factory=list)
    others: dict[tuple[str, object], GuardFailure] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    together: dict[str, list[GuardFailure]] = field(default_factory=dict)


def late_compilation_verdict(report: Report) -> str:
    """Summarize in one sentence the compilations after the warm-up."""
    late = [finding for finding in report.findings if finding.kind == "late-compile"]
    number, places = sum(finding.count for finding in late), len({finding.span for finding in late})
    if not late:
        if (problem := report.problem) is not None and report.status not in ("finished", "exited"):
            return problem.message
        return "Nothing was compiled after the warm-up."
    where = "" if places == number else f", from {messages.counted(places, 'place')}"
    return f"{messages.counted(number, 'compilation')} after the warm-up{where}."


class RecompileIndex:
    """The guards of a run, and the recompilations that failing guards caused."""

    def __init__(self, facts: FactsByType, places: FactLocator, lightning: LightningModules) -> None:
        self._facts = facts
        self._lightning = lightning
        self._places = places
        self._workspace = places.workspace
        self._resumed = ResumeBreaks(facts, places)
        self.guards = facts.lists_by_compile_id(GuardInstalled)
        self._conditions = facts.lists_by_compile_id(ShapeGuard)
        self._constants = facts.lists_by_compile_id(Specialization)
        self._late = facts.by_compile_id(LateCompilation)
        self._ended = bool(facts.of(RunFinished))
        self._codes: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        self._completed: dict[tuple[str, tuple[GuardFailure, ...]], Sequence[GuardFailure]] = {}
        for guard in facts.of(GuardInstalled):
            self._codes[guard.compile_id, guard.source].add((guard.kind, guard.code))

    def builders(self) -> Iterator[FindingBuilder]:
        """Build a finding for each changed property of a value.

        Values that changed in the same way share a finding.
        """
        groups: dict[tuple[object, ...], _CauseGroup] = {}
        for fact in self._facts.of(Recompile):
            if fact.compile_id not in self._late:
                cause = self.cause(fact.failures, fact.compile_id)
                place = self._place(fact.compile_id, cause)
                group = groups.setdefault((place.span, messages.cause_of(cause)), _CauseGroup(place))
                group.failures[fact.compile_id] = cause
                group.together[fact.compile_id] = self._changed_with(cause, fact)
                group.libraries += [place.library] if place.library else []
                for failure in self.completed(fact.failures, fact.compile_id):
                    group.reasons[failure.reason] = None
                    if (other := messages.cause_of(failure)) != messages.cause_of(cause):
                        group.others[fact.compile_id, other] = failure
        alike: dict[tuple[object, ...], list[_CauseGroup]] = defaultdict(list)
        for group in groups.values():
            alike[self._change(group)].append(group)
        return map(self._builder, alike.values())

    def _change(self, group: _CauseGroup) -> tuple[object, ...]:
        """Return a key that is equal for groups with the same change.

        The key has the outermost compiled function, the expected and the actual value, and the value's name.
        Names of tensors and of freed objects are left out, since they differ between functions.
        """
        compile_id, failure = next(iter(group.failures.items()))
        name = written_name(failure.source).rpartition(".")[2] or failure.reason
        name = "" if failure.changed in _TENSOR_CHECKS or failure.kind == FREED else name
        kind = (failure.kind, failure.changed, name)
        return (self._places.outermost(compile_id), *kind, failure.expected, failure.actual)

    def _builder(self, groups: Sequence[_CauseGroup]) -> FindingBuilder:
        first, *others = groups
        failures = [self._as_passed(*item) for item in first.failures.items()]
        rest = [(key[0], failure) for group in groups for key, failure in group.others.items()]
        compile_ids = {compile_id for group in groups for compile_id in group.failures}
        times = f" {len(compile_ids)} times" if len(compile_ids) > 1 else ""
        message = f"recompiled{times}{'' if self._ended else ' so far'}: {messages.change(failures)}"
        own = {messages.cause_of(item) for group in groups for item in group.failures.values()}
        together = _in_all(list(first.together.values()), own)
        explained = (
            messages.changed_with(together),
            messages.alike([self._value_and_place(group) for group in others]),
            messages.other_failures([self._as_passed(*item) for item in rest]),
        )
        given = advice.common_advice(
            item for group in groups for item in self.advise(next(iter(group.failures.values())))
        )
        # If the caller tests whether a key is in a value, the caller does not pass the key.
        asked = self._lookup(next(iter(first.failures.values())))
        keys = names(ast.parse(asked, mode="eval")) if asked else ()
        passed = [same for same in together if written_name(same[0].source) not in keys]
        given = advice_on_all(given, passed, self.advise)
        finding = Finding(
            "recompile",
            "recompile",
            "information",
            with_library_places(message, first.libraries) + self._likewise(groups),
            first.place.span,
            "\n\n".join(filter(None, explained)),
            hints=sentences(given),
            stack=first.place.calls,
            also_from=self._places.other_calls(sorted(compile_ids, key=compile_number), first.place.calls),
            text="\n".join(dict.fromkeys(reason for group in groups for reason in group.reasons)),
            advice=tuple(given),
        )
        return FindingBuilder(finding, compile_ids)

    def _likewise(self, groups: Sequence[_CauseGroup]) -> str:
        """Write a clause on the values of further groups, which changed in the same way.

        The clause is empty for a single group.
        """
        values = [next(iter(group.failures.items())) for group in groups]
        own, *others = (self._as_passed(*value).source for value in values)
        functions = [
            "" if self._places.resumes_at(compile_id) is not None else self._places.name_of(compile_id)
            for compile_id, _ in values[1:]
        ]
        return messages.likewise(others, own, functions)

    def _changed_with(self, cause: GuardFailure, fact: Recompile) -> list[GuardFailure]:
        """List the values that changed together with a cause.

        Values that fit an earlier compilation are left out.
        """
        compile_id = fact.compile_id
        before, after = self.guards[cause.compile_id], self.guards[compile_id]
        numbers = (compile_number(cause.compile_id), compile_number(compile_id))
        follows = bool(numbers[0]) and numbers[0][-1] + 1 == numbers[1][-1]
        found = changed_with(cause, before, after, follows=follows)
        if cause.changed not in _TENSOR_CHECKS:  # advice on a size covers all that changed
            found += changed_sizes(cause.compile_id, before, after, follows=follows)
        if cause.changed != "size":
            found += changed_types(cause.compile_id, before, after)
        earlier = {failure.compile_id for failure in fact.failures}
        return [
            item
            for item in found
            if written_name(item.source)
            and not any(self._is_for(other, item, compile_id) for other in earlier)
        ]

    def _lookup(self, failure: GuardFailure) -> str:
        """Return the ``in`` test on a changed dict or set, if nothing else uses its items.

        Return an empty string for other failures.
        """
        if failure.kind not in ("DICT_CONTAINS", "SET_CONTAINS"):
            return ""
        return lookup(failure.stack or self._guard_stack(failure), failure.source, self._workspace)

    def _break_behind(self, failure: GuardFailure) -> tuple[Advice, ...]:
        """Advise to remove the graph break over which a changed value was passed.

        There is no advice for tensors, which change with or without the break.
        """
        if failure.changed in _TENSOR_CHECKS or failure.kind == "TENSOR_MATCH":
            return ()
        line = self._resumed.behind(failure)
        return (Advice(messages.REMOVE_BREAK.format(line=line)),) if line else ()

    def late_compilations(self) -> Iterator[FindingBuilder]:
        """Build a finding for each call and cause of compilations after the warm-up.

        The finding is on the call in user code.
        """
        groups: dict[tuple[Span | None, str, object], dict[str, GuardFailure | None]] = {}
        for fact in self._late.values():
            failure = self.cause(fact.failures, fact.compile_id) if fact.failures else None
            span = self._places.own_span(self._places.calling_stack(fact.compile_id))
            function = self._places.name_of(fact.compile_id)
            cause = messages.cause_of(failure) if failure else ""
            groups.setdefault((span, function, cause), {})[fact.compile_id] = failure
        for (_, function, _), group in groups.items():
            first, failures = next(iter(group)), [failure for failure in group.values() if failure]
            given = self.advise(failures[0]) if failures else (Advice(advice.CALL_AHEAD),)
            why = messages.change(failures) if failures else "the warm-up did not call it"
            place, stack = self._places.place((), first), self._places.calling_stack(first)
            yield FindingBuilder(
                Finding(
                    "late-compile",
                    "late-compile",
                    "error",
                    f"{code_span(function)} is compiled after the warm-up: {why}",
                    self._places.place(stack, "").span if stack else place.span,
                    hints=sentences(given),
                    stack=place.calls,
                    text="\n".join(dict.fromkeys(failure.reason for failure in failures)),
                    advice=tuple(given),
                ),
                set(group),
            )

    def advise(self, failure: GuardFailure) -> tuple[Advice, ...]:
        """Return the advice on a failed guard, given all compilations of the function."""
        frame, compile_id = frame_of(failure.compile_id), failure.compile_id
        stack = failure.stack or self._guard_stack(failure)
        function = self._places.functions.get(compile_id)
        if function and any(folder in function.filename.replace("\\", "/") for folder in _BY_ITSELF):
            return ()
        if instead := self._lightning.hints(stack, compile_id, failure.source):
            return tuple(map(Advice, instead))
        ids = sorted((key for key in self.guards if frame_of(key) == frame), key=compile_number)
        seen = outlook(failure, {key: self.guards[key] for key in ids})
        names = (failure.source, *(source for source, _ in seen.sizes))
        constant = specialization_behind(failure, (item for key in ids for item in self._constants[key]))
        seen = replace(
            seen,
            is_own=constant is None or self._is_own(constant.stack),
            in_library=not self._is_own(self._places.own_frame(compile_id)),
            at_call=not seen.is_optional and all(self._places.at_call(name, compile_id) for name in names),
            has_loader=self._places.mentions("DataLoader(", compile_id),
            indexes=self._is_index(stack, failure.source),
            among_others=len({cause.source for cause in self._causes[frame]}) > 1,
            lookup=self._lookup(failure),
            unrolled=unrolled_layer(constant, self._places) if constant else "",
            allowing=allowing_line(compile_id, self._places) if constant else "",
            static_line=static_line(compile_id, self._places),
            of_module=seen.of_module
            or (
                failure.source.startswith("L['self'].")
                and self._places.name_of(compile_id).endswith(".forward")
            ),
        )
        given = advice.recompile_advice(failure, seen) or self._break_behind(failure)
        return (*given, *shared_code(failure, compile_id, self._places))

    def named(self, failures: Iterable[GuardFailure]) -> list[GuardFailure]:
        """Return failures with torch's names for stack values replaced by the user's."""
        return [self._resumed.named(failure) for failure in failures]

    def _is_index(self, stack: Stack, source: str) -> bool:
        """Return whether the line at a stack's end uses a guarded value as an index."""
        file = self._workspace.source(stack[-1].filename) if stack else None
        name = _ITEM.sub("", written_name(source).rpartition(".")[2])
        return bool(name) and any(
            name in (getattr(part, "attr", ""), getattr(part, "id", ""))
            for node in (ast.walk(file.tree) if file and file.tree else ())
            if isinstance(node, ast.Subscript) and node.lineno == stack[-1].row
            for part in ast.walk(node.slice)
        )

    def causes(self, limit: RecompileLimit) -> list[GuardFailure]:
        """List the cause of each recompilation of the frame that hit a recompile limit."""
        return self._causes[frame_of(limit.compile_id)]

    @cached_property
    def _causes(self) -> Mapping[str, list[GuardFailure]]:
        """The causes of recompilations, by frame."""
        causes: dict[str, list[GuardFailure]] = defaultdict(list)
        for fact in self._facts.of(Recompile):
            causes[frame_of(fact.compile_id)].append(self.cause(fact.failures, fact.compile_id))
        return causes

    def together(self, limit: RecompileLimit) -> list[list[GuardFailure]]:
        """List the values that always changed together with a frame's most frequent cause."""
        causes: dict[tuple[object, ...], list[list[GuardFailure]]] = defaultdict(list)
        for fact in self._facts.of(Recompile):
            if frame_of(fact.compile_id) == frame_of(limit.compile_id):
                cause = self.cause(fact.failures, fact.compile_id)
                causes[messages.cause_of(cause)].append(self._changed_with(cause, fact))
        return _in_all(max(causes.values(), key=len, default=[]), causes.keys())

    def cause(self, failures: tuple[GuardFailure, ...], compile_id: str) -> GuardFailure:
        """Choose the guard failure that explains a recompilation.

        It is the failure of a guard on a value that fits no earlier compilation. If each value fits one, only
        the combination of values is new: then it is the failure of the newest compilation.
        """
        completed = self.completed(failures, compile_id)
        # A guard that could not be evaluated explains less than any other guard.
        all_failures = [item for item in completed if not messages.is_unevaluated(item.reason)] or completed
        newest: dict[tuple[object, ...], GuardFailure] = {}
        for failure in reversed(all_failures):
            newest.setdefault(messages.cause_of(failure), failure)
        for failure in newest.values():
            if not any(self._holds(failure, other, compile_id) for other in all_failures):
                return failure
        return next(iter(newest.values()), _UNKNOWN)

    def _holds(self, failure: GuardFailure, other: GuardFailure, compile_id: str) -> bool:
        """Return whether the compilation of ``other`` accepts the value of ``failure``.

        ``other`` is the guard failure of that compilation. It accepts the value if it checks the value before
        the guard that failed, or if the new compilation has the same guards on the value.
        """
        if (other.source or other.kind) != (failure.source or failure.kind):
            return self._is_for(other.compile_id, failure, compile_id)
        return {failure.changed, other.changed} <= {*_TENSOR_CHECKS} and _step(failure) < _step(other)

    def _is_for(self, other: str, failure: GuardFailure, compile_id: str) -> bool:
        """Return whether ``compile_id`` has all guards of ``other`` on a failure's value."""
        asked = self._asked(other, failure)
        return bool(asked) and asked <= self._asked(compile_id, failure)

    def _asked(self, compile_id: str, failure: GuardFailure) -> set[tuple[str, str]]:
        """Return a compilation's guards on a failure's value and on the value's sizes."""
        ambient, source = self._codes[compile_id, ""], failure.source
        if not source:
            kind = "LAMBDA_GUARD" if failure.kind == advice.RELATION else failure.kind
            return {guard for guard in ambient if guard[0] == kind}
        own = self._codes[compile_id, source] | {guard for guard in ambient if source in guard[1]}
        if any(kind == "TENSOR_MATCH" for kind, _ in own):
            own = {guard for guard in own if guard[0] != "TYPE_MATCH"}  # torch sometimes omits this guard
        return own

    def completed(self, failures: tuple[GuardFailure, ...], compile_id: str) -> Sequence[GuardFailure]:
        """Complete the guard failures that led to a compilation, from installed guards.

        There is one failure for each earlier compilation, sorted by compilation.
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
                is_relation = not failure.source and relation_of(failure.reason) is not None
                kind = advice.RELATION if is_relation else failure.kind
                failure = replace(failure, stack=condition.stack, kind=kind)
            # torch makes a size dynamic in the second compilation, but the code can specialize it again.
            constants = (*self._constants[failure.compile_id], *self._constants[compile_id])
            if specialization_behind(failure, constants) is not None:
                failure = replace(failure, kind=tensor_advice.SPECIALIZED)
            yield failure

    def _place(self, compile_id: str, failure: GuardFailure) -> FindingPlace:
        """Return the place of the code that needed the guarded value first.

        If that is unknown or in a library, return the parameter or the name of the compiled function.
        """
        stack = failure.stack or self._guard_stack(failure)
        own = self._places.own_frame(compile_id)
        contains = self._workspace.contains
        if own and contains(own[0].filename) and not any(contains(frame.filename) for frame in stack):
            stack = own  # the compiled function says more than a line of a library
        place = self._places.place(stack, compile_id)
        span = self._places.name_span(self._places.full_stack(stack, compile_id), failure.source)
        return replace(place, span=span or place.span)

    def _value_and_place(self, group: _CauseGroup) -> tuple[str, str]:
        span = group.place.span
        source = self._workspace.source(span.filename)
        row = source.place(span.row) if source else span.row
        failure = self._as_passed(*next(iter(group.failures.items())))
        return failure.source, f"{os.path.basename(span.filename)}:{row}"

    def _as_passed(self, compile_id: str, failure: GuardFailure) -> GuardFailure:
        """Return a failure with the value's name in the program.

        An item of ``*args`` or ``**kwargs`` gets the caller's name for the value.
        """
        failure = self._resumed.named(failure)
        holder = failure.source.rpartition("[")[0]
        guards = (*self.guards[compile_id], *self.guards[failure.compile_id]) if holder else ()
        lengths = (length_of(guard) for guard in guards if guard.source == holder)
        length = next((length for length in lengths if length is not None), 0)
        name = self._places.passed_as(failure.source, compile_id, length)
        return replace(failure, source=name) if name else failure

    def _is_own(self, stack: Stack) -> bool:
        return any(self._workspace.contains(frame.filename) for frame in stack[-1:])

    def _guard_stack(self, failure: GuardFailure) -> Stack:
        guards = (guard for guard in self.guards[failure.compile_id] if guard.source == failure.source)
        return next((guard.stack for guard in guards if guard.stack), ()) if failure.source else ()


def _in_all(
    changes: Sequence[Sequence[GuardFailure]], own: Collection[tuple[object, ...]]
) -> list[list[GuardFailure]]:
    """Group failures by property, for the properties that are in all of ``changes``.

    Properties in ``own`` are left out.
    """
    found: dict[tuple[object, ...], list[GuardFailure]] = defaultdict(list)
    for failure in (item for part in changes for item in part):
        found[messages.cause_of(failure)].append(failure)
    return [same for key, same in found.items() if key not in own and len(same) == len(changes)]


def _step(failure: GuardFailure) -> tuple[int, int]:
    """Return a sort key for tensor properties: the order in which torch checks them."""
    return _TENSOR_CHECKS.index(failure.changed), failure.dimension or 0
