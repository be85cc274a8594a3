"""Example calls of the functions that a trace saw compiled, with the inputs that it saw them compiled for."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from fullgraph_compiler.facts import Fact, FrameStarted, GuardInstalled
from fullgraph_compiler.trace.inputs import FrameInputs

from ..report.model import Report, SeenCall
from ..workspace.constructions import construction, record_fields
from ..workspace.examples import first_row, named_definitions
from ..workspace.source import SourceFile
from ..workspace.workspace import Workspace
from .call_values import Value, Writer, read_values

_MOST_CALLS = 4
"""Calls of one function: the later ones of many differ in numbers only."""
_LONGEST = 1000
"""Characters of a call that a person still wants to have in the code."""
CALLED = ("forward", "__call__")
"""Methods of a class whose objects are called; the example stands above the class."""


@dataclass(frozen=True)
class _Definition:
    """A function that an example can call: its qualified name, and the class whose method it is."""

    source: SourceFile
    qualname: str
    function: ast.FunctionDef
    owner: ast.ClassDef | None


@dataclass
class _Compiled:
    """One compilation of a function, and those of what follows its graph breaks."""

    started: FrameStarted
    resumed: list[str] = field(default_factory=list)


def seen_calls(
    facts: Iterable[Fact], inputs: Mapping[str, FrameInputs], workspace: Workspace
) -> tuple[SeenCall, ...]:
    """The calls that a trace tells of, in the order of their first compilation, each once.

    ``facts`` are the trace's, with guards; ``inputs`` what each compilation was given.
    """
    guards: defaultdict[str, list[GuardInstalled]] = defaultdict(list)
    functions: defaultdict[tuple[str, str, int], list[_Compiled]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, GuardInstalled):
            guards[fact.compile_id].append(fact)
        elif isinstance(fact, FrameStarted):
            compilations = functions[fact.filename, fact.function, fact.row]
            known = inputs.get(fact.compile_id, FrameInputs())
            if not known.resumes:
                compilations.append(_Compiled(fact))
            elif compilations:
                compilations[-1].resumed.append(fact.compile_id)
    calls: dict[SeenCall, None] = {}
    for (filename, name, row), compilations in functions.items():
        definition = _definition(workspace, filename, name, row)
        if definition is not None:
            own = dict.fromkeys(_calls(definition, compilations, inputs, guards, workspace))
            whole = [call for call in own if call.complete]
            calls.update(dict.fromkeys((whole or list(own))[:_MOST_CALLS]))
    return tuple(calls)


def example_lines(report: Report) -> list[tuple[str, int, list[str]]]:
    """For each definition that a report has calls of, its file, its row, and the comments to put above it."""
    lines: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for call in report.calls:
        lines[call.filename, call.row].append(example_line(call))
    return [(filename, row, found) for (filename, row), found in lines.items()]


def example_line(call: SeenCall) -> str:
    """The comment that makes a call an example."""
    return f"# fullgraph: {call.text}"


def _definition(workspace: Workspace, filename: str, name: str, row: int) -> _Definition | None:
    """The function whose code begins at a row, if a module has it by name."""
    source = workspace.source(filename) if workspace.contains(filename) else None
    if source is None:
        return None
    found = dict(named_definitions(source))
    for qualname, node in found.items():
        if isinstance(node, ast.FunctionDef) and node.name == name and first_row(node) <= row <= node.lineno:
            owner = found.get(qualname.rpartition(".")[0])
            return _Definition(source, qualname, node, owner if isinstance(owner, ast.ClassDef) else None)
    return None


def _calls(
    definition: _Definition,
    compilations: Sequence[_Compiled],
    inputs: Mapping[str, FrameInputs],
    guards: Mapping[str, Sequence[GuardInstalled]],
    workspace: Workspace,
) -> Iterator[SeenCall]:
    kept = _unchanged(definition.function)
    resumed: Sequence[str] = ()
    for compiled in compilations:
        started = compiled.started
        own = inputs.get(started.compile_id, FrameInputs())
        # What follows a graph break was compiled by an earlier call where this one did not do it again.
        resumed = compiled.resumed or resumed
        later = [inputs[compile_id] for compile_id in resumed]
        if not any(frame.tensors for frame in (own, *later)):
            continue  # nothing of it can be in a graph
        told = guards.get(started.compile_id, ())
        after = (guard for compile_id in resumed for guard in guards.get(compile_id, ()))
        # A parameter that is used after a graph break only is an input there, and still what it was.
        values = read_values((own, *later), (*told, *after))
        at_start = read_values((own,), told)
        values.update((name, value) for name, value in at_start.items() if name not in kept)
        programs = _programs(started, workspace)
        call = _call(definition, values, programs, traced=bool(told))
        if call is not None:
            yield call


def _programs(started: FrameStarted, workspace: Workspace) -> list[SourceFile]:
    """The user's files whose code led to a frame, the nearest first."""
    own = dict.fromkeys(frame.filename for frame in reversed(started.stack))
    sources = (workspace.source(filename) for filename in own if workspace.contains(filename))
    return [source for source in sources if source is not None]


def _unchanged(function: ast.FunctionDef) -> set[str]:
    """The parameters of a function that it never assigns to: they hold later what they held at its start."""
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    return {node.arg for node in parameters if node is not None} - stored


def _call(
    definition: _Definition, values: Mapping[str, Value], programs: Sequence[SourceFile], traced: bool
) -> SeenCall | None:
    source, place = definition.source, definition.qualname
    node: ast.FunctionDef | ast.ClassDef = definition.function
    callee: ast.expr = _dotted(place)
    marks = [item.id for item in node.decorator_list if isinstance(item, ast.Name)]
    bound = definition.owner is not None and "staticmethod" not in marks
    if bound and definition.owner is not None and "classmethod" not in marks:
        owner = _class_of_self(definition, values) or (place.rpartition(".")[0], definition.owner)
        callee = construction(source, owner[0], programs)
        if node.name in CALLED:
            place, node = owner
        else:
            callee = ast.Attribute(callee, node.name)
    writer = Writer(partial(record_fields, source))
    arguments = _Arguments(definition.function, values, writer, bound=bound, traced=traced)
    call = ast.Call(callee, arguments.positional, arguments.keywords)
    text = ast.unparse(call)
    if len(text) > _LONGEST or "\n" in text:
        return None
    complete = not any(isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(call))
    return SeenCall(place, source.filename, node.lineno, text, complete)


def _class_of_self(definition: _Definition, values: Mapping[str, Value]) -> tuple[str, ast.ClassDef] | None:
    """The class of the object that a method was called on, if it is one of the same file."""
    given = definition.function.args
    parameters = [*given.posonlyargs, *given.args]
    value = values.get(parameters[0].arg) if parameters else None
    for qualname, node in named_definitions(definition.source):
        if value and isinstance(node, ast.ClassDef) and f".{value.type}".endswith(f".{qualname}"):
            return qualname, node
    return None


class _Arguments:
    """The arguments of a call, as its function's header wants them; those that are the default left out.

    ``bound`` leaves out the first parameter, the object. What was not used is None, if the frame was
    ``traced`` to its end.
    """

    def __init__(
        self,
        function: ast.FunctionDef,
        values: Mapping[str, Value],
        writer: Writer,
        *,
        bound: bool,
        traced: bool,
    ) -> None:
        self.positional: list[ast.expr] = []
        self.keywords: list[ast.keyword] = []
        self._values, self._writer = values, writer
        self._unused = ast.Constant(None if traced else ...)
        given = function.args
        more = values.get(given.vararg.arg) if given.vararg else None
        rest = more is not None and (bool(more.parts) or bool(more.length))
        parameters = [*given.posonlyargs, *given.args]
        defaults = [*[None] * (len(parameters) - len(given.defaults)), *given.defaults]
        left_out = False
        for index, (parameter, default) in enumerate(zip(parameters, defaults, strict=True)):
            if bound and index == 0:
                continue
            value = self._given(parameter.arg, default)
            if value is None and (rest or index < len(given.posonlyargs)):
                value = default  # something may follow that has no name
            if value is None:
                left_out = True
            elif left_out:
                self.keywords.append(ast.keyword(parameter.arg, value))
            else:
                self.positional.append(value)
        if more is not None and rest:
            self.positional += writer.elements(more)
        for parameter, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
            if (value := self._given(parameter.arg, default)) is not None:
                self.keywords.append(ast.keyword(parameter.arg, value))
        others = values.get(given.kwarg.arg) if given.kwarg else None
        for (_, key), part in others.parts.items() if others else ():
            if isinstance(key, str) and key.isidentifier():
                self.keywords.append(ast.keyword(key, writer.expression(part)))

    def _given(self, name: str, default: ast.expr | None) -> ast.expr | None:
        """The value of a parameter; ``None`` to leave it out."""
        if name not in self._values:
            return self._unused if default is None else None
        value = self._writer.expression(self._values[name], name)
        return None if default is not None and ast.dump(value) == ast.dump(default) else value


def _dotted(path: str) -> ast.expr:
    return ast.parse(path, mode="eval").body
