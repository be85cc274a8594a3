"""The answers to all graph breaks and errors of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fullgraph_compiler.facts import (
    CallsWithoutGraph,
    CompileFailure,
    FrameStarted,
    GraphBreak,
    ModulesLoaded,
    ProgramRaised,
    RecompileLimit,
    StageChecked,
)

from ...workspace.source import SourceFile
from ..facts_by_type import FactsByType
from ..source_locator import FactLocator
from .breaks import break_answer, on_limit, on_no_graph, wrapper_answer
from .calls import library_answer
from .errors import error_answer, first_sentence
from .fake_calls import fake_call_answer, handler_answer
from .fake_kernels import kernel_answer
from .marks import MarkUses
from .operators import loop_answer
from .recompiling.compiling import limit_of_thread
from .seen_errors import SeenBreak
from .uncompiled import uncompiled_hints
from .undecided import undecided_answer
from .words import FindingAnswer
from .wrapped import raised_answer

_WITH_STACK: Final = (GraphBreak, CompileFailure, ProgramRaised, CallsWithoutGraph, RecompileLimit)
_TRACED_BY: Final = "trace_autograd_ops"
"""The setting that makes Dynamo trace gradients; torch's message names it if a gradient breaks the graph."""


class FindingAnswers:
    """The answers to a run's graph breaks and errors, from facts and source code."""

    def __init__(self, facts: FactsByType, places: FactLocator) -> None:
        self._facts = facts
        self._places = places
        self._workspace = places.workspace
        self._marks = MarkUses(lambda: tuple(self._sources()))
        breaks = (fact for fact in facts.of(GraphBreak) if _TRACED_BY in fact.explanation)
        self._untraced = {(frame.filename, frame.row) for fact in breaks for frame in fact.stack[-1:]}

    def on_break(self, fact: GraphBreak, *, wrapped: bool) -> FindingAnswer:
        """Return the answer to a graph break; ``wrapped`` if DDP or FSDP causes the break."""
        if (answer := kernel_answer(fact, self._marks, self._workspace)).note:
            return answer
        seen = SeenBreak(fact, self._places, self._marks)
        return wrapper_answer(seen) if wrapped else break_answer(seen)

    def on_failure(self, fact: CompileFailure) -> FindingAnswer:
        """Return the answer to an error of the compiler."""
        if not fact.code and (answer := self._on_error(fact)).note:
            return replace(answer, replaced=fact.explanation)
        if (answer := kernel_answer(fact, self._marks, self._workspace)).note:
            return answer
        if (answer := undecided_answer(fact, self._places, self._marks)).note:
            return answer
        own = self._places.own(fact.stack)
        filename = own[-1].filename if own else ""
        function = self._places.name_of(fact.compile_id)
        if (answer := library_answer(fact, function, self._marks, self._workspace)).hints:
            return answer
        answer = break_answer(SeenBreak(fact, self._places, self._marks)).with_part(loop_answer(fact))
        traced = self._places.traced_stack(fact.stack, fact.compile_id)
        answer = handler_answer(fact, traced, self._workspace).with_part(answer)
        return answer.with_part(fake_call_answer(fact, filename, self._marks))

    def on_raised(self, fact: ProgramRaised) -> FindingAnswer:
        """Return the answer to an exception that the program raised."""
        answer = self._on_error(fact)
        if not answer.note and self._facts.of(StageChecked):
            return answer  # the stages also ran without the wrapper: they show whether it is the cause
        if not answer.note:
            own, started = self._places.own(fact.stack), self._facts.of(FrameStarted)
            return raised_answer(fact, own, started, self._marks, self._workspace.source)
        return replace(answer, title=answer.title or first_sentence(fact.message))

    def on_no_graph(self, fact: CallsWithoutGraph) -> tuple[str, ...]:
        """Return hints for a compiled function whose calls captured no graph."""
        hints = on_no_graph(fact, self._places, self._marks)
        return hints or uncompiled_hints(fact, self._marks, self._workspace)

    def on_limit(self, fact: RecompileLimit) -> FindingAnswer:
        """Return the answer to a recompile limit.

        The note names what turns the limit into an error, and the line that sets a limit for another thread.
        """
        answer = limit_of_thread(fact, tuple(self._sources()))
        notes = filter(None, (on_limit(fact, self._places, self._marks), answer.note))
        return replace(answer, note="\n".join(notes))

    def _on_error(self, fact: CompileFailure | ProgramRaised) -> FindingAnswer:
        return error_answer(fact.message, fact.stack, self._places, self._marks, self._untraced)

    def _sources(self) -> Iterator[SourceFile]:
        """Yield the user's files that were imported or are on stacks of errors and breaks."""
        names: dict[str, None] = {}
        for fact in self._facts.all:
            if isinstance(fact, ModulesLoaded):
                names.update(dict.fromkeys(fact.filenames))
            elif isinstance(fact, _WITH_STACK):
                names.update(dict.fromkeys(frame.filename for frame in fact.stack))
        for name in filter(self._workspace.contains, names):
            if source := self._workspace.source(name):
                yield source
