"""Example calls of compiled functions, written from the inputs of compilations."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from fullgraph_compiler.facts import Fact, FrameInputs, FrameStarted, GuardInstalled

from ..report.model import Report, SeenCall
from ..workspace.constructions import construction, record_fields
from ..workspace.examples import named_definitions
from ..workspace.source import SourceFile
from ..workspace.syntax import first_row, nodes_of, parameters, positional
from ..workspace.workspace import Workspace
from .call_values import CallValue, ValueWriter, parsed, read_values

_MOST_CALLS = 4
"""The limit on example calls of one function; later calls usually differ only in numbers."""
_LONGEST = 1000
"""The limit on characters of an example call, which the user can insert into code."""
CALLED = ("forward", "__call__")
"""Methods that run when an object is called; their example calls are placed above the class."""


@dataclass(frozen=True)
class _CallableDefinition:
    """A function that an example can call; ``owner`` is the class of a method."""

    source: SourceFile
    qualname: str
    function: ast.FunctionDef
    owner: ast.ClassDef | None


@dataclass
class _FunctionCompilation:
    """One compilation of a function.

    ``resumed`` are the compile ids of the function's resume functions.
    """

    started: FrameStarted
    resumed: list[str] = field(default_factory=list)


def seen_calls(facts: Sequence[Fact], workspace: Workspace) -> tuple[SeenCall, ...]:
    """Write example calls of the compiled functions, without duplicates.

    Functions are in the order of their first compilations.
    """
    inputs = {fact.compile_id: fact for fact in facts if isinstance(fact, FrameInputs)}
    guards: defaultdict[str, list[GuardInstalled]] = defaultdict(list)
    functions: defaultdict[tuple[str, str, int], list[_FunctionCompilation]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, GuardInstalled):
            guards[fact.compile_id].append(fact)
        elif isinstance(fact, FrameStarted):
            compilations = functions[fact.filename, fact.function, fact.row]
            if fact.resumes_at is None:
                compilations.append(_FunctionCompilation(fact))
            elif compilations:
                compilations[-1].resumed.append(fact.compile_id)
    calls: dict[SeenCall, None] = {}
    for (filename, name, row), compilations in functions.items():
        definition = _definition(workspace, filename, name, row)
        if definition is not None:
            own = dict.fromkeys(_calls(definition, compilations, inputs, guards, workspace))
            complete = [call for call in own if call.complete]
            calls.update(dict.fromkeys((complete or list(own))[:_MOST_CALLS]))
    return tuple(calls)


def example_lines(report: Report) -> list[tuple[str, int, list[str]]]:
    """List the definitions with example calls: file, row, comments to put above."""
    lines: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for call in report.calls:
        lines[call.filename, call.row].append(example_line(call))
    return [(filename, row, comments) for (filename, row), comments in lines.items()]


def example_line(call: SeenCall) -> str:
    """Return the ``# fullgraph:`` comment that declares a call as an example."""
    return f"# fullgraph: {call.text}"


def _definition(workspace: Workspace, filename: str, name: str, row: int) -> _CallableDefinition | None:
    """Find the function that begins at a row, if code can reach it by name.

    Return ``None`` for a function that is nested in another function.
    """
    source = workspace.own_source(filename)
    if source is None:
        return None
    definitions = dict(named_definitions(source))
    for qualname, node in definitions.items():
        if isinstance(node, ast.FunctionDef) and node.name == name and first_row(node) <= row <= node.lineno:
            owner = definitions.get(qualname.rpartition(".")[0])
            return _CallableDefinition(
                source, qualname, node, owner if isinstance(owner, ast.ClassDef) else None
            )
    return None


def _calls(
    definition: _CallableDefinition,
    compilations: Sequence[_FunctionCompilation],
    inputs: Mapping[str, FrameInputs],
    guards: Mapping[str, Sequence[GuardInstalled]],
    workspace: Workspace,
) -> Iterator[SeenCall]:
    kept = _unchanged(definition.function)
    resumed: Sequence[str] = ()
    for compiled in compilations:
        started = compiled.started
        own = inputs.get(started.compile_id, FrameInputs(started.compile_id))
        # If this call did not compile the function's resume functions, an earlier call did.
        resumed = compiled.resumed or resumed
        later = [inputs[compile_id] for compile_id in resumed if compile_id in inputs]
        if not any(frame.tensors for frame in (own, *later)):
            continue  # without tensors, the function has no graph
        before = guards.get(started.compile_id, ())
        after = (guard for compile_id in resumed for guard in guards.get(compile_id, ()))
        # A parameter that is used only after a graph break is an input of the resume function, unchanged.
        values = read_values((own, *later), (*before, *after))
        at_start = read_values((own,), before)
        values.update((name, value) for name, value in at_start.items() if name not in kept)
        programs = _programs(started, workspace)
        call = _call(definition, values, programs, traced=bool(before))
        if call is not None:
            yield call


def _programs(started: FrameStarted, workspace: Workspace) -> list[SourceFile]:
    """List the user's files whose code led to a frame, the nearest first."""
    own = dict.fromkeys(frame.filename for frame in reversed(started.stack))
    sources = (workspace.source(filename) for filename in own if workspace.contains(filename))
    return [source for source in sources if source is not None]


def _unchanged(function: ast.FunctionDef) -> set[str]:
    """Collect the parameters that keep their values, since the function never assigns."""
    stored = {node.id for node in nodes_of(ast.Name, function) if not isinstance(node.ctx, ast.Load)}
    return {node.arg for node in parameters(function)} - stored


def _call(
    definition: _CallableDefinition,
    values: Mapping[str, CallValue],
    programs: Sequence[SourceFile],
    traced: bool,
) -> SeenCall | None:
    source, place = definition.source, definition.qualname
    node: ast.FunctionDef | ast.ClassDef = definition.function
    callee: ast.expr = parsed(place)
    marks = [item.id for item in node.decorator_list if isinstance(item, ast.Name)]
    bound = definition.owner is not None and "staticmethod" not in marks
    if bound and definition.owner is not None and "classmethod" not in marks:
        owner = _class_of_self(definition, values) or (place.rpartition(".")[0], definition.owner)
        callee = construction(source, owner[0], programs)
        if node.name in CALLED:
            place, node = owner
        else:
            callee = ast.Attribute(callee, node.name)
    writer = ValueWriter(partial(record_fields, source))
    call = _HeaderArguments(definition.function.args, values, writer, bound, traced).call(callee)
    text = ast.unparse(call)
    if len(text) > _LONGEST or "\n" in text:
        return None
    complete = not any(isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(call))
    return SeenCall(place, source.filename, node.lineno, text, complete)


def _class_of_self(
    definition: _CallableDefinition, values: Mapping[str, CallValue]
) -> tuple[str, ast.ClassDef] | None:
    """Find the class of the object whose method was called, if it is in the same file."""
    own = positional(definition.function)
    value = values.get(own[0].arg) if own else None
    for qualname, node in named_definitions(definition.source):
        if value and isinstance(node, ast.ClassDef) and f".{value.type}".endswith(f".{qualname}"):
            return qualname, node
    return None


@dataclass(frozen=True)
class _HeaderArguments:
    """The arguments of an example call, from the header of the called function.

    Arguments equal to a default are left out. ``bound`` leaves out the first parameter, the object. A
    required argument without a known value is ``None`` if the frame was ``traced`` to its end, else ``...``.
    """

    header: ast.arguments
    values: Mapping[str, CallValue]
    writer: ValueWriter
    bound: bool
    traced: bool

    def call(self, callee: ast.expr) -> ast.Call:
        """Return a call of ``callee`` with the arguments."""
        # The order matters: a value that is needed twice is assigned to its name at its first use.
        positional, keywords = self._named()
        positional += self.writer.elements(more) if (more := self._more()) else []
        keywords += [*self._keyword_only(), *self._other_keywords()]
        return ast.Call(callee, positional, keywords)

    def _named(self) -> tuple[list[ast.expr], list[ast.keyword]]:
        """Return the positional and the keyword arguments for named parameters.

        Arguments after one that is left out are passed by keyword.
        """
        parameters = [*self.header.posonlyargs, *self.header.args]
        required = len(parameters) - len(self.header.defaults)
        defaults = [*[None] * required, *self.header.defaults]
        # Arguments before further positional ones cannot be left out.
        kept = len(parameters) if self._more() else len(self.header.posonlyargs)
        positional: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        left_out = False
        for index in range(1 if self.bound else 0, len(parameters)):
            name, default = parameters[index].arg, defaults[index]
            value = self._given(name, default) or (default if index < kept else None)
            if value is None:
                left_out = True
            elif left_out:
                keywords.append(ast.keyword(name, value))
            else:
                positional.append(value)
        return positional, keywords

    def _more(self) -> CallValue | None:
        """Return the value of ``*args``; ``None`` if it is empty or unknown."""
        more = self.values.get(self.header.vararg.arg) if self.header.vararg else None
        return more if more is not None and (more.parts or more.length) else None

    def _keyword_only(self) -> Iterator[ast.keyword]:
        for parameter, default in zip(self.header.kwonlyargs, self.header.kw_defaults, strict=True):
            if (value := self._given(parameter.arg, default)) is not None:
                yield ast.keyword(parameter.arg, value)

    def _other_keywords(self) -> Iterator[ast.keyword]:
        """Yield the items of ``**kwargs``."""
        others = self.values.get(self.header.kwarg.arg) if self.header.kwarg else None
        for (_, key), part in others.parts.items() if others else ():
            if isinstance(key, str) and key.isidentifier():
                yield ast.keyword(key, self.writer.expression(part))

    def _given(self, name: str, default: ast.expr | None) -> ast.expr | None:
        """Return an expression for an argument; ``None`` to leave the argument out."""
        if name not in self.values:
            return ast.Constant(None if self.traced else ...) if default is None else None
        value = self.writer.expression(self.values[name], name)
        return None if default is not None and ast.dump(value) == ast.dump(default) else value
