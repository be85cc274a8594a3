"""Places of facts in user code: the innermost frame of user code on a stack."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from fullgraph_compiler.facts import (
    Fact,
    FrameCompiled,
    FrameSkipped,
    FrameStarted,
    RecompileLimit,
    Severity,
    Stack,
    StackFrame,
)

from ..kinds import FindingKind
from ..text.markdown import code_span, torch_page
from ..text.messages import counted
from ..text.source_names import written_name
from ..text.subjects import break_subject
from ..workspace.bundled import worker_folder
from ..workspace.definitions import definitions
from ..workspace.positions import Span, StackCall
from ..workspace.ranges import definition_span, frame_span, name_span, node_at, parameter_names, passed_as
from ..workspace.source import SourceFile
from ..workspace.workspace import Workspace
from .finding_builder import FindingBuilder
from .model import Finding

_LIBRARY_FOLDER = re.compile(r"^.*[/\\](?:site-packages|dist-packages|python\d\.\d+)[/\\]", re.DOTALL)
_PRIVATE = re.compile(r"\._(?!_dict__$|\w*_hooks$)|\((?!\)$)")
"""A pattern for private attributes and calls, except for those that advice describes in other terms."""
_CALLS_OF_MODULES = ("_wrapped_call_impl", "_call_impl")
"""The functions that ``model(x)`` calls before ``forward`` (``torch/nn/modules/module.py``)."""
_OF_DYNAMO = re.compile(r"/torch/(?:_dynamo|_higher_order_ops)/")
_LOCAL = re.compile(r"L\['(\w+)'\]")
_ITEM = re.compile(r"L\['(\w+)'\](\[(?:\d+|'\w+')\])")


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """The place of a finding in user code, with the calls that lead to it.

    ``library`` is the library call at the end of the stack; ``None`` if the stack ends in user code.
    """

    span: Span
    calls: tuple[StackCall, ...]
    library: StackCall | None


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A compiled function; all compilations of the function have equal instances."""

    filename: str
    name: str
    row: int


class FactLocator:
    """A locator of facts in user code, from stacks and compiled frames.

    ``filename`` is the file on which facts without a stack are placed.
    """

    def __init__(self, workspace: Workspace, filename: str, facts: Iterable[Fact]) -> None:
        self.workspace = workspace
        self._filename = filename
        self._started: dict[str, FrameStarted] = {}
        self._spans: dict[tuple[StackFrame, str], Span] = {}
        self._callers: dict[Stack, tuple[Span, ...]] = {}
        self.functions: dict[str, UserFunction] = {}
        for fact in facts:
            if isinstance(fact, FrameStarted):
                started = self._started.get(fact.compile_id)
                if started is None or not started.stack:
                    self._started[fact.compile_id] = fact
            if isinstance(fact, (FrameStarted, FrameCompiled, FrameSkipped, RecompileLimit)):
                function = UserFunction(fact.filename, fact.function, fact.row)
                self.functions.setdefault(fact.compile_id, function)

    def place(self, stack: Stack, compile_id: str) -> FindingPlace:
        """Return the place of the innermost frame of user code.

        ``calls`` are the calls in user code, and the library calls after the innermost. In a log whose files
        are not on this machine, every frame outside of libraries counts as user code.
        """
        full = self.full_stack(stack, compile_id)
        if not full:
            return FindingPlace(Span(self._filename, 1, 1, 1, 1), (), None)
        own = [index for index, frame in enumerate(full) if self.workspace.contains(frame.filename)] or [
            index for index, frame in enumerate(full) if not _LIBRARY_FOLDER.match(frame.filename)
        ]
        index = own[-1] if own else len(full) - 1
        shown = [full[position] for position in own if position < index] + list(full[index:])
        calls = tuple(StackCall(frame.filename, frame.row, frame.function) for frame in shown)
        library = replace(calls[-1], function=self.function_name(calls[-1]))
        in_library = own and index < len(full) - 1 and not _is_dynamo(full[-1].filename)
        return FindingPlace(self.span(full[index]), calls, library if in_library else None)

    def finding(
        self,
        kind: FindingKind,
        severity: Severity,
        message: str,
        stack: Stack,
        compile_id: str | None = None,
        *,
        code: str = "",
        explanation: str = "",
        hints: tuple[str, ...] = (),
        url: str = "",
        text: str = "",
    ) -> FindingBuilder:
        """Start a finding at the place of a stack.

        If the stack is empty, the finding is on the compiled function.
        """
        place = self.place(stack, compile_id or "")
        finding = Finding(
            kind,
            code or kind,
            severity,
            with_library_places(message, [place.library] if place.library else []),
            place.span,
            explanation,
            hints,
            torch_page(url),
            place.calls,
            text=_own_call().sub("", text),
        )
        return FindingBuilder(finding, set() if compile_id is None else {compile_id})

    def subject(self, stack: Stack, compile_id: str, code: str, said: str) -> str:
        """Name the code in the innermost frame of user code, which breaks the graph.

        Return an empty string if the columns of the code are unknown.
        """
        full = self.full_stack(stack, compile_id) if stack else ()
        frame = self._innermost_own(full)
        source = self.workspace.source(frame.filename) if frame and frame.column is not None else None
        if frame is None or source is None:
            return ""
        node = node_at(source, self.span(frame))
        if node is None:
            return ""
        return break_subject(node, source.line(node.lineno), code, said, innermost=frame == full[-1])

    def name_of(self, compile_id: str) -> str:
        """Return the name of a compiled function with the class: ``Block.forward``.

        Return an empty string if the function is unknown.
        """
        function = self.functions.get(compile_id)
        return self.qualname(function) if function else ""

    def qualname(self, function: UserFunction) -> str:
        """Return a function's name with the class: ``Block.forward``."""
        source = self.workspace.source(function.filename)
        row = definition_span(source, function.filename, function.row, function.name).row
        return definitions(source).qualname(row, function.name) if source else function.name

    def full_stack(self, stack: Stack, compile_id: str) -> Stack:
        """Return the callers of a compiled frame, followed by a fact's stack.

        If the fact's stack is empty, the compiled frame follows the callers.
        """
        stack = stack or self.own_frame(compile_id)
        started = self._started.get(compile_id)
        if not (started and started.stack and stack):
            return stack
        outer, first = started.stack[0], stack[0]
        is_whole = (outer.filename, outer.row, outer.function) == (first.filename, first.row, first.function)
        return stack if is_whole else started.stack + stack

    def outermost(self, compile_id: str) -> tuple[str, str]:
        """Return file and name of the outermost compiled function on a frame's stack."""
        compiled = self._compiled()
        stack = (*self.calling_stack(compile_id), *self.own_frame(compile_id))
        calls = ((frame.filename, frame.function) for frame in stack)
        return next((call for call in calls if call in compiled), ("", ""))

    def is_compiled(self, frame: StackFrame) -> bool:
        """Return whether a frame's function was compiled itself, not only inlined."""
        return (frame.filename, frame.function) in self._compiled()

    def own(self, stack: Stack) -> list[StackFrame]:
        """List the frames of user code on a stack."""
        return [frame for frame in stack if self.workspace.contains(frame.filename)]

    def calling_stack(self, compile_id: str) -> Stack:
        """Return the calls that led to a compiled frame; empty if unknown."""
        started = self._started.get(compile_id)
        return started.stack if started else ()

    def traced_stack(self, stack: Stack, compile_id: str) -> Stack:
        """Return the part of a fact's stack that Dynamo traced.

        It begins with the compiled frame.
        """
        around = len(self.calling_stack(compile_id)) if stack else 0
        return self.full_stack(stack, compile_id)[around:] if stack else ()

    def resumes_at(self, compile_id: str) -> int | None:
        """Return the row at which a resume function continues.

        Return ``None`` if the compiled frame is not a resume function.
        """
        started = self._started.get(compile_id)
        return started.resumes_at if started else None

    def own_frame(self, compile_id: str) -> Stack:
        """Return a stack with a single frame, at the name of the compiled function.

        The stack is empty if the function is unknown.
        """
        function = self.functions.get(compile_id)
        if function is None:
            return ()
        source = self.workspace.source(function.filename)
        span = definition_span(source, function.filename, function.row, function.name)
        if source is None:
            return (StackFrame(function.filename, function.row, function.name),)
        return (
            StackFrame(
                function.filename,
                span.row,
                function.name,
                source.offset(span.row, span.column),
                span.end_row,
                source.offset(span.end_row, span.end_column),
            ),
        )

    def at_call(self, source: str, compile_id: str) -> bool:
        """Return whether user code at the compiled call can refer to a guarded value.

        User code cannot refer to an argument of a call in a library, a value that exists only in compiled
        code, an item of ``*args``, or a private attribute. A NumPy array does not count either, since it is
        not a tensor before the call.
        """
        name, function = written_name(source), self.functions.get(compile_id)
        if not name or _PRIVATE.search(name) or "___from_numpy(" in source:
            return False
        if function is None:
            return True
        callers, compiled = self.calling_stack(compile_id), self._compiled()
        caller = next((frame for frame in reversed(callers) if frame.function not in _CALLS_OF_MODULES), None)
        if not self.workspace.contains(function.filename) or any(
            (frame.filename, frame.function) in compiled for frame in callers
        ):
            return False
        if caller is not None and not self.workspace.contains(caller.filename):
            return False
        file, local = self.workspace.source(function.filename), _LOCAL.match(source)
        if file is None or local is None:
            return True
        return local[1] in parameter_names(file, function.row, function.name)

    def passed_as(self, source: str, compile_id: str, length: int) -> str:
        """Return the caller's code for an item of a function's ``*args`` or ``**kwargs``.

        ``length`` is the number of items of ``*args``. Return an empty string if the call is not in user
        code, or the item is unknown.
        """
        found, function = _ITEM.fullmatch(source), self.functions.get(compile_id)
        file = self.workspace.source(function.filename) if function else None
        calls = [frame for frame in self.calling_stack(compile_id) if frame.function not in _CALLS_OF_MODULES]
        frame = calls[-1] if calls and self.workspace.contains(calls[-1].filename) else None
        caller = self.workspace.source(frame.filename) if frame and frame.column is not None else None
        if not (found and function and file and frame and caller):
            return ""
        definition = definitions(file).function_at(
            definition_span(file, function.filename, function.row, function.name).row
        )
        node = node_at(caller, self.span(frame))
        if definition is None or not isinstance(node, ast.Call):
            return ""
        return passed_as(node, definition, f"{found[1]}{found[2]}", length)

    def mentions(self, text: str, compile_id: str) -> bool:
        """Return whether a user file on the stack of a compiled call contains ``text``."""
        sources = map(self.workspace.own_source, {frame.filename for frame in self.calling_stack(compile_id)})
        return any(source is not None and text in source.text for source in sources)

    def sources_around(self, compile_id: str) -> list[SourceFile]:
        """List the user's files on the stack of a compiled call and of the function."""
        frames = (*self.calling_stack(compile_id), *self.own_frame(compile_id))
        sources = map(self.workspace.own_source, dict.fromkeys(frame.filename for frame in frames))
        return list(filter(None, sources))

    def span(self, frame: StackFrame, name: str = "") -> Span:
        """Return the place of a frame's code, or of ``name`` if the frame's row has it."""
        key = (frame, name)
        span = self._spans.get(key)
        if span is None:
            source = self.workspace.source(frame.filename)
            span = (name_span(source, frame.row, name) if name else None) or frame_span(source, frame)
            self._spans[key] = span
        return span

    def name_span(self, stack: Stack, source: str) -> Span | None:
        """Return the place of a guarded expression in the innermost frame of user code."""
        frame = self._innermost_own(stack)
        return None if frame is None else self.span(frame, written_name(source))

    def own_span(self, stack: Stack) -> Span | None:
        """Return the place of the innermost user code on a stack; ``None`` without any."""
        frame = self._innermost_own(stack)
        return self.span(frame) if frame else None

    def other_calls(self, compile_ids: Iterable[str], calls: Sequence[StackCall]) -> tuple[StackCall, ...]:
        """Return calls in user code that led to compilations, but are not in ``calls``.

        For each compilation, it is the innermost such call, if any.
        """
        known = {(call.filename, call.row) for call in calls}
        found: dict[StackCall, None] = {}
        for compile_id in compile_ids:
            stack = self.calling_stack(compile_id)
            own = reversed(self.own(stack))
            if frame := next((item for item in own if (item.filename, item.row) not in known), None):
                found[StackCall(frame.filename, frame.row, frame.function)] = None
        return tuple(found)

    def callers(self, stack: Stack) -> tuple[Span, ...]:
        """Return the calls in user code on a stack except the innermost, inner ones first."""
        callers = self._callers.get(stack)
        if callers is None:
            rows = ((frame.filename, frame.row) for frame in reversed(self.own(stack)[:-1]))
            callers = self._callers[stack] = tuple(Span(name, row, 1, row, 1) for name, row in rows)
        return callers

    def _compiled(self) -> set[tuple[str, str]]:
        """Return the file and name of every compiled function."""
        return {(function.filename, function.name) for function in self.functions.values()}

    def function_name(self, place: StackCall | StackFrame) -> str:
        """Return the name of the function that contains a call, with the class."""
        source = self.workspace.source(place.filename)
        scopes = definitions(source) if source else None
        function = scopes.function_at(place.row) if scopes else None
        return scopes.qualname(function.lineno, place.function) if scopes and function else place.function

    def _innermost_own(self, stack: Stack) -> StackFrame | None:
        return next((frame for frame in reversed(stack) if self.workspace.contains(frame.filename)), None)


def with_library_places(message: str, calls: Sequence[StackCall]) -> str:
    """Add the first of ``calls`` in libraries to a message, and the number of others."""
    places = list(dict.fromkeys(map(library_place, calls)))
    if not places:
        return message
    others = f", and {counted(len(places) - 1, 'other place')}" if len(places) > 1 else ""
    return f"{message.rstrip('.')} ({places[0]}{others})"


def library_place(call: StackCall) -> str:
    """Name the place of a library call by the path in the package.

    For example: ``in `reduce`, einops/einops.py:120``.
    """
    return f"in {code_span(call.function)}, {_LIBRARY_FOLDER.sub('', call.filename)}:{call.row}"


def in_library(finding: Finding, workspace: Workspace) -> bool:
    """Return whether a finding's innermost call is in a library, not in user code."""
    innermost = finding.stack[-1].filename if finding.stack else finding.span.filename
    return not (workspace.contains(innermost) or _is_dynamo(innermost))


def _is_dynamo(filename: str) -> bool:
    """Return whether a file is Dynamo's own, such as a polyfill for a C function.

    The files of higher-order operators such as ``torch.cond`` count, too, since the cause of a break there is
    a function that the user passed.
    """
    return _OF_DYNAMO.search(filename.replace("\\", "/")) is not None


@cache
def _own_call() -> re.Pattern[str]:
    """Return a pattern that matches Fullgraph's own calls in a traceback."""
    return re.compile(rf'^ *File "{re.escape(worker_folder())}.*\n(?:    .*\n)*', re.MULTILINE)
