"""Records of ``torch.export``: the problems of an export, and its program.

The records are emitted by ``torch/export/_trace.py`` and ``_draft_export.py``,
``torch/_subclasses/fake_tensor.py`` and ``torch/fx/experimental/symbolic_shapes.py`` (2.11 to 2.15). Most
records are only in a log of ``TORCH_DTRACE``; ``draft_export`` writes a separate log with few of them. No
record names its export: the export follows from the order of the records. Fullgraph adds ``export_error`` and
``export_warning`` (:mod:`...compat.export_compat`), because torch only raises and warns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...facts import (
    Artifact,
    CompileFailure,
    DataSymbol,
    ExportFailed,
    ExportProblem,
    ExportProblemKind,
    Fact,
    FrameCompiled,
    FrameStarted,
    GraphCaptured,
    ProgramExported,
    Stack,
    StackFrame,
)
from ..graphs import parse_nodes, parse_operators
from ..inductor.code import CODE_RECORDS, CodeReader
from ..inputs import TENSOR_RECORDS
from ..messages import Source, parse_message
from ..record import TraceRecord
from ..shapes import SHAPE_RECORDS, ShapeReader
from .places import Placed, first_own, names_in, places_of, users_calls, with_names
from .texts import (
    parse_assigned,
    parse_ranges,
    parse_suggestions,
    parse_undecided,
    parse_unknown_operator,
    parse_violations,
    schema,
)

EXPORT_ERROR: Final = "export_error"
"""A record that Fullgraph adds: the exception of an export."""
EXPORT_WARNING: Final = "export_warning"
"""A record that Fullgraph adds: a warning by torch during an export."""
_START: Final = "export"
_PROGRAM: Final = "exported_program"
_PARTIAL: Final = "make_fx_fail_partial"
_MISSING: Final = "missing_fake_kernel"
_MISMATCHED: Final = "mismatched_fake_kernel"
_ASSUMED: Final = "propagate_real_tensors_provenance"
_UNDECIDED: Final = "guard_on_data_dependent_error"
_UNBACKED: Final = "create_unbacked_symbol"
_GUARD: Final = "guard_added"
CREATED: Final = "expression_created"
EXPORT_RECORDS: Final = frozenset(
    (
        _START,
        _PROGRAM,
        EXPORT_ERROR,
        EXPORT_WARNING,
        _PARTIAL,
        _MISSING,
        _MISMATCHED,
        _ASSUMED,
        _UNDECIDED,
        _UNBACKED,
        _GUARD,
        CREATED,
    )
)
_WITHIN: Final = SHAPE_RECORDS | TENSOR_RECORDS | {"dynamo_output_graph"}
"""Records that belong to exports as well as to compilations by Dynamo."""

_NAME: Final = re.compile(r"\bz?u[f]?\d+\b")
"""The name of an unbacked symbol: a number that depends on data."""


@dataclass
class _ExportState:
    """The state of an export; ``begun`` is false if the log lacks its beginning."""

    compile_id: str
    shapes: ShapeReader
    begun: bool = False
    function: FrameStarted | None = None
    compiling: set[str] = field(default_factory=set)
    """The compilations by Dynamo that began during the export."""
    unbacked: dict[str, Stack] = field(default_factory=dict)
    expressions: dict[int, Any] = field(default_factory=dict)
    """The frames that created each expression, in the form of the log, by the expression's id."""
    problems: dict[tuple[str, ...], ExportProblem] = field(default_factory=dict)
    undecided: str = ""
    """The last condition that torch could not decide."""
    partial: str = ""
    failed: ExportFailed | None = None
    """The failure of the export, known from its exception or from a graph that ends early."""


class ExportReader:
    """A reader of records of exports and of ahead-of-time compilations.

    These compilations do not use Dynamo. ``structured`` converts the list of frames in a record to a stack.
    """

    def __init__(self, source: Source, structured: Callable[[Any], Stack]) -> None:
        self._source = source
        self._structured = structured
        self._count = 0
        self._open: _ExportState | None = None
        self._last = ""
        self._programs: dict[str, frozenset[tuple[str, int]]] = {}
        """The places of operations in exported programs that have not been compiled yet, by program."""
        self._graphs: dict[str, GraphCaptured] = {}
        self._code: tuple[str, CodeReader] | None = None
        self._ahead = 0

    def takes(self, record: TraceRecord, compilations: Container[str]) -> bool:
        """Return whether a record belongs to an export, not to a compilation by Dynamo.

        Records about the generated code of an exported program count, too.
        """
        name, compile_id, going_on = record.name, record.compile_id, self._open
        if name == "dynamo_start":
            if going_on:
                going_on.compiling.add(compile_id)
            return False
        if name in EXPORT_RECORDS:
            return True
        if name in CODE_RECORDS:
            return not compile_id
        return name in _WITHIN and not self._is_of_dynamo(record, compilations)

    def feed(self, record: TraceRecord, compilations: Container[str]) -> Iterator[Fact]:
        """Yield the facts that a record completes."""
        if record.name in CODE_RECORDS:
            yield from self._compiled(record)
            return
        is_bound = record.name in (_START, _PROGRAM, EXPORT_ERROR, EXPORT_WARNING)
        if is_bound or not self._is_of_dynamo(record, compilations):
            yield from _HANDLERS.get(record.name, _ignore)(self, record) or ()

    def finish(self) -> Iterator[Fact]:
        """Yield the facts that still wait for a record, at the end of the trace."""
        yield from self._close()
        if self._code:
            compile_id, code = self._code
            yield from code.finish(self._graphs.get(compile_id))

    def _is_of_dynamo(self, record: TraceRecord, compilations: Container[str]) -> bool:
        # A strict export has a compile id without a dynamo_start, perhaps that of an earlier compilation.
        if self._open and self._open.begun and record.compile_id not in self._open.compiling:
            return False
        return record.compile_id in compilations

    # -- an export -------------------------------------------------------------------------------

    def _export(self) -> _ExportState:
        """Return the current export, or a new export whose beginning the log lacks."""
        if self._open is None:
            self._open = _ExportState(f"export/{self._count}", ShapeReader(self._structured))
            self._count += 1
        return self._open

    def _start(self, record: TraceRecord) -> Iterator[Fact]:
        yield from self._close()
        going_on = self._export()
        going_on.begun = True
        frame = record.seen.get("frame")
        if isinstance(frame, StackFrame):
            stack = record.seen.get("stack", ())
            going_on.function = FrameStarted(
                going_on.compile_id, frame.function, frame.filename, frame.row, stack
            )
            yield going_on.function

    def _close(self) -> Iterator[Fact]:
        """End the current export, which has no program, and yield its facts."""
        going_on, self._open = self._open, None
        if going_on is None or not (going_on.begun or going_on.partial or going_on.problems):
            return
        if not going_on.begun and not going_on.partial:
            yield from going_on.problems.values()  # of a draft, whose program is not in the log
            return
        yield from self._about(going_on)
        if going_on.partial:
            yield Artifact(going_on.compile_id, None, "make_fx_fail_partial", going_on.partial)
        failed = going_on.failed or ExportFailed(going_on.compile_id)
        yield failed if failed.error else replace(failed, cause=going_on.undecided)

    def _about(self, going_on: _ExportState) -> Iterator[Placed]:
        yield from going_on.problems.values()
        for fact in going_on.shapes.take():
            yield replace(fact, compile_id=going_on.compile_id)

    def _program(self, record: TraceRecord) -> Iterator[Fact]:
        text = record.payload
        if self._open is None and text == self._last:
            return  # draft_export records its program again
        going_on, self._last = self._export(), text
        self._open = None
        compile_id, nodes = going_on.compile_id, tuple(parse_nodes(text))
        graph = self._graphs[compile_id] = GraphCaptured(compile_id, nodes, text)
        yield from self._begin_at(going_on, first_own(graph))
        self._place_operators(going_on, text)
        names = names_in(graph)
        yield from (with_names(fact, names) for fact in self._about(going_on))
        yield graph
        self._programs[compile_id] = places_of(graph)
        yield ProgramExported(compile_id, tuple(parse_ranges(text)), of_draft_log=not going_on.begun)
        if going_on.function:
            yield _completed(going_on.function, graph, float(record.seen.get("seconds", 0.0)))

    def _begin_at(self, going_on: _ExportState, frame: StackFrame | None) -> Iterator[Fact]:
        """Begin at the function of the first operation, if the log names no function."""
        if going_on.function is None and frame is not None:
            going_on.function = FrameStarted(going_on.compile_id, frame.function, frame.filename, frame.row)
            yield going_on.function

    def _error(self, record: TraceRecord) -> Iterator[Fact]:
        going_on = self._export()
        going_on.begun = True
        error, message = str(record.body["error"]), record.payload
        stack = users_calls(record.seen.get("stack", ()))
        compile_id = going_on.compile_id
        problem = self._problem_of(going_on, error, message, stack)
        going_on.failed = ExportFailed(
            compile_id,
            error,
            message,
            stack,
            tuple(parse_violations(message)),
            parse_suggestions(message),
            retried=bool(record.seen.get("draft")) and "Constraints violated" in message,
            cause=problem.subject if problem else "",
            text=message,
        )
        if problem:
            going_on.problems.setdefault((problem.kind, problem.subject), problem)
        elif (said := parse_message(message)).code:
            yield CompileFailure(
                compile_id,
                "capture",
                error,
                said.reason,
                stack,
                said.code,
                said.whole_explanation,
                said.hints,
                said.url,
                message,
            )
        yield from self._close()

    def _problem_of(
        self, going_on: _ExportState, error: str, message: str, stack: Stack
    ) -> ExportProblem | None:
        """Return the problem that an exception's message describes, or ``None``."""
        if expression := parse_undecided(message):
            return self._undecided_at(going_on, expression, stack)
        if operator := parse_unknown_operator(error, message):
            return ExportProblem(going_on.compile_id, "missing-fake-kernel", operator, stack=stack)
        return None

    # -- what it met -----------------------------------------------------------------------------

    def _undecided(self, record: TraceRecord) -> None:
        going_on = self._export()
        stack = users_calls(record.seen.get("stack") or self._structured(record.body.get("stack")))
        created = users_calls(self._structured(going_on.expressions.get(record.body.get("expr_id"))))
        if created and created[-1] not in stack[-1:]:
            stack = created  # the program is not on Python's stack while Dynamo traces it
        expression = str(record.body["expr"])
        problem = self._undecided_at(going_on, expression, stack)
        going_on.problems.setdefault((problem.kind, expression), problem)
        going_on.undecided = expression

    def _undecided_at(self, going_on: _ExportState, expression: str, stack: Stack) -> ExportProblem:
        return ExportProblem(
            going_on.compile_id,
            "data-dependent",
            expression,
            symbols=_symbols(expression, going_on.unbacked),
            sizes=going_on.shapes.symbols(expression),
            stack=stack,
        )

    def _assumed(self, record: TraceRecord) -> None:
        going_on, body = self._export(), record.body
        stack = self._stack(record)
        problem = self._undecided_at(going_on, str(body["expr"]), stack)
        place = f"{stack[-1].filename}:{stack[-1].row}" if stack else ""
        going_on.problems.setdefault(
            (problem.kind, place, problem.subject), replace(problem, detail=str(body["result"]))
        )

    def _operator(self, record: TraceRecord) -> None:
        going_on = self._export()
        kind: ExportProblemKind = (
            "missing-fake-kernel" if record.name == _MISSING else "mismatched-fake-kernel"
        )
        operator, reason = schema(str(record.body["op"])), str(record.body.get("reason") or "")
        problem = ExportProblem(
            going_on.compile_id,
            kind,
            operator,
            reason.rstrip("!."),
            stack=users_calls(record.seen.get("stack", ())),
        )
        going_on.problems.setdefault((kind, operator, reason), problem)

    def _warning(self, record: TraceRecord) -> Iterator[Fact]:
        left = record.body.get("left") if isinstance(record.body, Mapping) else ()
        for attribute in left if isinstance(left, list) else ():  # from the export that has just ended
            last = f"export/{self._count - 1}"
            yield ExportProblem(last, "assigned-attribute", str(attribute), "without data")
        for attribute in parse_assigned(record.payload):
            going_on = self._export()
            problem = ExportProblem(going_on.compile_id, "assigned-attribute", attribute)
            going_on.problems.setdefault((problem.kind, attribute), problem)

    def _place_operators(self, going_on: _ExportState, text: str) -> None:
        """Add the places of operators to problems without a stack.

        The places are read from the text of the program.
        """
        places = {
            node.operator.replace(".", "::", 1): node.frame for node in reversed([*parse_operators(text)])
        }
        for key, problem in going_on.problems.items():
            frame = places.get(problem.subject.partition(".")[0])  # without its overload
            if not problem.stack and frame is not None:
                going_on.problems[key] = replace(problem, stack=(frame,))

    def _unbacked(self, record: TraceRecord) -> None:
        self._export().unbacked[str(record.body["symbol"])] = self._stack(record)

    def _created(self, record: TraceRecord) -> None:
        self._export().expressions[record.body["result_id"]] = record.body["user_stack"]

    def _partial(self, record: TraceRecord) -> Iterator[Fact] | None:
        going_on = self._export()
        going_on.partial = record.payload.strip("\n")
        graph = GraphCaptured("", tuple(parse_nodes(going_on.partial)))
        stack = tuple(node.frame for node in graph.nodes[-1:]) or users_calls(self._structured(record.calls))
        going_on.failed = ExportFailed(
            going_on.compile_id, stack=stack, while_tracing=True, certain=going_on.begun
        )
        return None if going_on.begun else self._close()

    def _shape(self, record: TraceRecord) -> None:
        # Without Dynamo, there is no user stack: the user's calls are a part of the whole stack.
        stack = self._stack(record) or users_calls(self._structured(record.body.get("stack")))
        self._export().shapes.feed(replace(record, seen={**record.seen, "stack": stack}))

    def _guard(self, record: TraceRecord) -> None:
        """Read a guard in the log of ``draft_export``.

        This log has neither ``guard_added_fast`` nor ``create_symbol``.
        """
        going_on, body = self._export(), record.body
        if going_on.begun or body["prefix"] != "eval":
            return
        for symbol, source in body["symbol_to_sources"].items():
            going_on.shapes.feed(
                replace(record, name="create_symbol", body={"symbol": symbol, "source": source, "val": ""})
            )
        if body["symbol_to_sources"]:
            self._shape(replace(record, name="guard_added_fast"))

    def _stack(self, record: TraceRecord) -> Stack:
        return users_calls(record.seen.get("stack") or self._structured(record.body.get("user_stack")))

    # -- code ------------------------------------------------------------------------------------

    def _compiled(self, record: TraceRecord) -> Iterator[Fact]:
        """Read a record of TorchInductor outside a compilation by Dynamo.

        Such records come from AOTInductor, which compiles an exported program.
        """
        if self._code is None or record.name == "before_pre_grad_graph":
            if self._code:
                compile_id, code = self._code
                yield from code.finish(self._graphs.get(compile_id))
            self._code = self._program_of(record), CodeReader(self._source)
            yield from self._graph_ahead(record, self._code[0])
        compile_id, code = self._code
        yield from code.feed(replace(record, compile_id=compile_id), self._graphs.get(compile_id))

    def _graph_ahead(self, record: TraceRecord, compile_id: str) -> Iterator[Fact]:
        """Yield the compiled graph as the program, if the log lacks the program."""
        if compile_id in self._graphs:
            return
        graph = self._graphs[compile_id] = GraphCaptured(
            compile_id, tuple(parse_nodes(record.payload)), record.payload
        )
        if frame := first_own(graph):
            started = FrameStarted(compile_id, frame.function, frame.filename, frame.row)
            yield started
            yield graph
            yield _completed(started, graph, 0.0)

    def _program_of(self, record: TraceRecord) -> str:
        """Return the exported program that shares the most lines with a graph.

        If no program shares a line, return a new name.
        """
        graph = GraphCaptured("", tuple(parse_nodes(record.payload)))
        shared = {name: len(places & places_of(graph)) for name, places in self._programs.items()}
        best = max(shared, key=lambda name: shared[name], default="")
        if best and shared[best]:
            del self._programs[best]
            return best
        self._ahead += 1
        return f"aot/{self._ahead - 1}"


def _ignore(_reader: ExportReader, _record: TraceRecord) -> None:
    """Skip a record that says nothing about an export."""


_HANDLERS: Final[dict[str, Callable[[ExportReader, TraceRecord], Any]]] = {
    **dict.fromkeys(SHAPE_RECORDS, ExportReader._shape),
    _START: ExportReader._start,
    _PROGRAM: ExportReader._program,
    EXPORT_ERROR: ExportReader._error,
    EXPORT_WARNING: ExportReader._warning,
    _PARTIAL: ExportReader._partial,
    _MISSING: ExportReader._operator,
    _MISMATCHED: ExportReader._operator,
    _ASSUMED: ExportReader._assumed,
    _UNDECIDED: ExportReader._undecided,
    _UNBACKED: ExportReader._unbacked,
    _GUARD: ExportReader._guard,
    CREATED: ExportReader._created,
}


def _completed(started: FrameStarted, graph: GraphCaptured, seconds: float) -> FrameCompiled:
    ops = len(graph.nodes)
    return FrameCompiled(
        started.compile_id, started.function, started.filename, started.row, 1, ops, 0, seconds
    )


def _symbols(expression: str, unbacked: dict[str, Stack]) -> tuple[DataSymbol, ...]:
    names = dict.fromkeys(_NAME.findall(expression))
    return tuple(DataSymbol(name, unbacked.get(name, ())) for name in names)
