"""Answers to graph breaks: at functions kept out of graphs, in hooks and checkpoints, at classes."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fullgraph_compiler.facts import (
    CallsWithoutGraph,
    CompileFailure,
    GraphBreak,
    RecompileLimit,
    StackFrame,
)

from ...text.markdown import code_span, filled
from ...text.source_names import written_name
from ...workspace.definitions import definitions
from ...workspace.source import SourceFile
from ...workspace.syntax import covers, nodes_of
from ...workspace.workspace import Workspace
from ..source_locator import Places
from .autograd import gradient_answer
from .calls import call_answer
from .coded import coded_answer
from .fake_calls import no_kernel_answer
from .marks import Mark, Marks, dotted
from .operators import branch_answer, merge_answer, raw_operator_answer, side_effect_answer, truth_answer
from .words import Answer, line_of, row_of, written

_BY_DISABLE: Final = r"wrapped with `torch\.compiler\.disable` \(reason: (?P<reason>[^\n]{0,300})\)$"
_DISABLED: Final = re.compile(
    r"Skip (?:calling|inlining) function `?(?P<value><[^`\n]{1,200}>|[\w.]{1,200})`? since it was "
    rf"{_BY_DISABLE}",
    re.MULTILINE,
)
"""``variables/functions.py`` and ``symbolic_convert.py`` in ``torch/_dynamo`` (2.8 to 2.15)."""
_DISABLED_MODULE: Final = re.compile(
    r"Dynamo determined that a graph break should occur when calling `(?P<source>[^`]{1,300})`\. Reason: "
    rf"Optimized `nn\.Module` is {_BY_DISABLE}",
    re.MULTILINE,
)
"""``torch/_dynamo/variables/builder.py`` (2.8 to 2.15)."""
_NAME: Final = re.compile(
    r"<(?:bound method|function) (?P<name>[\w.<>]+?)(?: at 0x\w+| of )|^(?P<plain>[\w.]+)$"
)
_MODULE_CALL: Final = re.compile(r"[/\\]torch[/\\]nn[/\\]modules[/\\]module\.py$")
_CHECKPOINT: Final = "torch.utils.checkpoint.checkpoint`"
_MAKES_CLASS: Final = ("__build_class__", "LOAD_BUILD_CLASS")
_ASKING: Final = re.compile(
    r"^Caused by: .*\((?P<place>(?!_dynamo[/\\])[^()\n]{1,200}:\d+) in (?P<function>\w+)\)$", re.MULTILINE
)
"""``_format_user_stack`` and the like in ``torch/fx/experimental/symbolic_shapes.py`` (2.11 to 2.15)."""
_CODE_OBJECT: Final = re.compile(
    r"<code object (?P<function>\w{1,200}) at 0x\w{1,20}, "
    r'file "(?P<file>[^"\n]{1,1000})", line (?P<row>\d{1,9})>'
)
"""How Python prints the code of a function, which torch names (``_dynamo/variables/functions.py``: 2.13)."""
_LONGEST: Final = 60
_DDP: Final = re.compile(r"[/\\]torch[/\\]nn[/\\]parallel[/\\]distributed\.py$")


@dataclass(frozen=True, slots=True)
class _Disabled:
    """What may not be traced: its name, the program's reason, and the mark, if that is found."""

    name: str
    reason: str
    mark: Mark | None
    said: str
    """Torch's sentence."""


class BreakAnswers:
    """Answers to the graph breaks of a run, and to the errors that ``fullgraph=True`` makes of them."""

    def __init__(self, places: Places, workspace: Workspace, marks: Marks) -> None:
        self._places = places
        self._workspace = workspace
        self._marks = marks

    def answer(self, fact: GraphBreak | CompileFailure) -> Answer:
        """Return what is to be said beside torch's words, or instead of them; nothing if nothing is known."""
        filename = self._filename(fact)
        answer = Answer()
        for part in (
            self._disabled(fact, filename),
            self._hook(fact, filename),
            self._class(fact),
            self._no_generator(fact, filename),
            branch_answer(fact, self._own(fact), self._workspace),
            side_effect_answer(fact, self._own(fact), self._workspace),
            truth_answer(fact, self._own(fact), self._workspace),
            merge_answer(fact),
            raw_operator_answer(fact, self._own(fact), self._workspace),
            gradient_answer(fact, self._own(fact), self._workspace, self._without_fullgraph(fact, filename)),
            call_answer(fact, self._places.full_stack(fact.stack, fact.compile_id), self._workspace),
            no_kernel_answer(fact, filename, self._marks),
            self._checkpoint(fact, filename),
            self._not_reached(fact, filename),
            self._transform(fact),
            self._of_data(fact, filename),
            self._only_raises(fact),
            self._fullgraph(fact, filename),
        ):
            answer = answer.with_part(part)
        return answer if answer.hints else answer.with_part(coded_answer(fact))

    # -- functions kept out of graphs --------------------------------------------------------------

    def _disabled(self, fact: GraphBreak | CompileFailure, filename: str) -> Answer:
        disabled = self._disabled_callee(fact)
        if disabled is None:
            return Answer()
        name, mark = code_span(disabled.name), disabled.mark
        where = f" ({line_of(mark, filename)})" if mark else ""
        reason = f": {disabled.reason}" if disabled.reason else ""
        note = f"{name} is kept out of graphs by `torch.compiler.disable`{where}{reason}."
        if isinstance(fact, GraphBreak) and not fact.skips_frame and "Inside of" not in fact.explanation:
            note += " The graph ends ahead of this call."
        hints = [f"If Dynamo can trace {name}, remove `torch.compiler.disable`{where}."]
        if mark is None and not self._marks.defines(disabled.name):
            elsewhere = f"Call {name} outside of what is compiled."
            hints = [f"{elsewhere} If it is in your code, you may remove `torch.compiler.disable`."]
        elif self._hook_mark(fact) is not None:
            hints.append("Else register it only on modules that are not compiled.")
        else:
            if _is_operator_like(mark):
                hints.append(
                    f"Else keep the call in the graph: with `torch._dynamo.nonstrict_trace` instead of "
                    f"`torch.compiler.disable`, if all that {name} does is operations of torch; as a custom "
                    "operator (`torch.library.custom_op`) otherwise."
                )
            hints.append(f"Or call {name} outside of what is compiled.")
        if isinstance(fact, CompileFailure) and self._fullgraph_marks(fact):
            hints.append("If the break is meant, leave `fullgraph=True` out: then this call runs eagerly.")
        return Answer(note, tuple(hints), replaced=disabled.said, instead=True)

    def _disabled_callee(self, fact: GraphBreak | CompileFailure) -> _Disabled | None:
        """Return what a break says is kept out of graphs, if that is its reason."""
        if said := _DISABLED_MODULE.search(fact.explanation):
            name = written_name(said["source"])
            held = [
                mark for mark in self._marks.all("disable") if name.rpartition(".")[2] in mark.names and name
            ]
            mark = held[0] if len(held) == 1 else None
        elif said := _DISABLED.search(fact.explanation):
            found = _NAME.search(said["value"])
            name = (found["name"] or found["plain"]).rpartition("<locals>.")[2] if found else ""
            mark = self._marks.named("disable", name)
        if said is None or not name:
            return None
        reason = said["reason"].strip().rstrip(".")
        return _Disabled(name, "" if reason == "None" else reason, mark, said[0])

    def _not_reached(self, fact: GraphBreak | CompileFailure, filename: str) -> Answer:
        """Tell that the mark on a caller of the compiled function does not reach it."""
        if not isinstance(fact, CompileFailure):
            return Answer()
        callers = self._places.calling_stack(fact.compile_id)
        mark = next((mark for frame in callers if (mark := self._mark_around(frame))), None)
        if mark is None:
            return Answer()
        name = self._places.name_of(fact.compile_id)
        compiled = self._marks.compiling(name)
        caller, line = code_span(mark.name), line_of(mark, filename)
        note = f"`torch.compiler.disable` on {caller} ({line}) does not reach what is compiled by itself"
        if len(compiled) == 1:
            note += f", as {code_span(name)} is ({line_of(compiled[0], filename)})"
        hint = (
            f"To run all that {caller} calls uncompiled, write "
            '`@torch.compiler.set_stance("force_eager")` instead of `torch.compiler.disable` '
            f"({line})."
        )
        return Answer(f"{note}.", (hint,))

    def _mark_around(self, frame: StackFrame) -> Mark | None:
        for mark in self._marks.all("disable"):
            node = mark.definition
            inside = node is not None and covers(node, frame.row)
            if inside and mark.source.filename == frame.filename and "recursive" not in mark.keywords:
                return mark
        return None

    def _fullgraph(self, fact: GraphBreak | CompileFailure, filename: str) -> Answer:
        """Tell which ``fullgraph=True`` makes an error of a break."""
        marks = self._fullgraph_marks(fact) if isinstance(fact, CompileFailure) else []
        if not marks:
            return Answer()
        where = f" ({line_of(marks[0], filename)})" if len(marks) == 1 else ""
        return Answer(f"`fullgraph=True`{where} makes an error of this break.")

    def _without_fullgraph(self, fact: GraphBreak | CompileFailure, filename: str) -> str:
        """Advise to leave ``fullgraph=True`` out, where that makes an error of a break."""
        marks = self._fullgraph_marks(fact) if isinstance(fact, CompileFailure) else []
        if not marks:
            return ""
        where = f" ({line_of(marks[0], filename)})" if len(marks) == 1 else ""
        return f"Or leave `fullgraph=True`{where} out: then this call breaks the graph, and runs eagerly."

    def _fullgraph_marks(self, fact: CompileFailure) -> list[Mark]:
        """List the marks that may have compiled what fails, if each has ``fullgraph=True``."""
        return self._marks_of(fact.compile_id) if fact.error == "Unsupported" and fact.code else []

    def _marks_of(self, compile_id: str) -> list[Mark]:
        """List the marks that may have compiled a frame, if each has ``fullgraph=True``."""
        marks = self._marks.compiling(self._places.name_of(compile_id))
        if not marks:
            callers = {frame.filename for frame in self._places.calling_stack(compile_id)}
            marks = [mark for mark in self._marks.all("compile") if mark.source.filename in callers]
        return marks if all(mark.is_on("fullgraph") for mark in marks) else []

    def on_limit(self, fact: RecompileLimit) -> str:
        """Tell which ``fullgraph=True`` makes an error of a recompile limit; empty if none is found."""
        marks = self._marks_of(fact.compile_id) if fact.fatal else []
        if not marks:
            return ""
        where = f" ({line_of(marks[0], fact.filename)})" if len(marks) == 1 else ""
        return f"`fullgraph=True`{where} makes an error of it: without, such calls run eagerly."

    def _transform(self, fact: GraphBreak | CompileFailure) -> Answer:
        """Advise on a compiled function that a transform of ``torch.func`` calls in uncompiled code."""
        around = self._places.calling_stack(fact.compile_id)
        if fact.code != "GB0149" or any(map(self._places.is_compiled, around)):
            return Answer()
        hint = (
            "Compile the function that calls the transform (`torch.func.grad`, `vmap`), instead of the one "
            "that is given to it."
        )
        return Answer(hints=(hint,))

    def _of_data(self, fact: GraphBreak | CompileFailure, filename: str) -> Answer:
        """Advise on a library's function that asks for a value that only the data of a tensor has."""
        asking = _ASKING.search(fact.text) if isinstance(fact, CompileFailure) else None
        if asking is None or "data-dependent expression" not in fact.text:
            return Answer()
        name = code_span(asking["function"])
        note = f"{name} ({asking['place']}) asks for a value that only the data of a tensor has."
        hint = (
            f"Call {name} outside of what is compiled, or write out what it computes, without that question."
        )
        marks = [mark for mark in self._marks.all("compile") if mark.is_on("fullgraph")]
        if len(marks) != 1 or len(self._marks.all("compile")) != 1:
            return Answer(note, (hint,), replaced=fact.explanation, instead=True)
        where = line_of(marks[0], filename)
        without = (
            f"Or leave `fullgraph=True` ({where}) out: then this call breaks the graph, and runs eagerly."
        )
        return Answer(note, (hint, without), replaced=fact.explanation, instead=True)

    def _only_raises(self, fact: GraphBreak | CompileFailure) -> Answer:
        """Advise on a branch on data that does nothing but raise an error."""
        own = self._own(fact) if fact.code == "GB0170" else ()
        source = self._workspace.source(own[-1].filename) if own else None
        node = (
            next((item for item in source.nodes_at(own[-1].row) if isinstance(item, ast.If)), None)
            if source
            else None
        )
        if node is None or node.orelse or not all(isinstance(item, ast.Raise) for item in node.body):
            return Answer()
        test = node.test
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test = test.operand
            holds = ast.unparse(test)
        else:
            called = ast.Call(ast.Attribute(test, "logical_not", ast.Load()), [], [])
            holds = ast.unparse(called)
        can_write = len(holds) <= _LONGEST and not any(map(_is_of_python, ast.walk(test)))
        checked = code_span(f"torch._assert_async({holds})") if can_write else "`torch._assert_async`"
        return Answer(
            "This branch only raises an error.",
            (f"Check that ahead of the compiled call, or write {checked}: the graph itself then checks it.",),
            instead=True,
        )

    # -- hooks -------------------------------------------------------------------------------------

    def _hook(self, fact: GraphBreak | CompileFailure, filename: str) -> Answer:
        mark = self._hook_mark(fact)
        if mark is None:
            return Answer()
        shown = written(mark.argument, "")
        name = code_span(shown) if shown else "This function"
        note = (
            f"{name} is a hook, registered on {line_of(mark, filename)}: it breaks the graph at each call of "
            "a module that has it."
        )
        skip = (
            "If it need not run in compiled calls, begin it with `if torch.compiler.is_compiling(): return`."
        )
        return Answer(note, () if self._disabled_callee(fact) else (skip,))

    def _hook_mark(self, fact: GraphBreak | CompileFailure) -> Mark | None:
        """Find where the hook was registered that a module called when the graph broke."""
        stack = self._places.full_stack(fact.stack, fact.compile_id)
        calls = [index for index, frame in enumerate(stack) if _MODULE_CALL.search(frame.filename)]
        if not calls:
            return None
        rest = stack[calls[-1] + 1 :]
        if rest:
            return None if rest[0].function == "forward" else self._marks.hook(rest[0].function)
        disabled = self._disabled_callee(fact)
        return self._marks.hook(disabled.name) if disabled else None

    # -- what a graph must have whole --------------------------------------------------------------

    def _checkpoint(self, fact: GraphBreak | CompileFailure, filename: str) -> Answer:
        if _CHECKPOINT not in fact.explanation or not isinstance(fact, GraphBreak):
            return Answer()
        own = self._own(fact)
        for caller, called in itertools.pairwise(own):
            source = self._workspace.source(caller.filename)
            if source is None or not _calls_at(source, caller.row, "checkpoint"):
                continue
            name = code_span(self._qualname(called))
            return Answer(
                f"A checkpointed function is in the graph as a whole or not at all: {name}, which "
                f"{row_of(source, caller.row, filename)} checkpoints, runs eagerly.",
                (f"Compile {name} by itself, with `@torch.compile`: then only this call runs eagerly.",),
                eager=f"the whole of {name} runs eagerly",
            )
        return Answer()

    def of_wrapper(self, fact: GraphBreak) -> Answer:
        """Tell that DDP sends the buffers of its module, if that is what breaks the graph."""
        stack = self._places.full_stack(fact.stack, fact.compile_id)
        if not any(_DDP.search(frame.filename) and "_sync_" in frame.function for frame in stack):
            return Answer()
        return Answer(
            "Here it sends the buffers of the module, such as the statistics of a BatchNorm, to all ranks.",
            (
                self._compile_ahead_of_ddp(self._filename(fact)),
                "If the buffers of ranks may differ, or never do, set `broadcast_buffers=False`.",
            ),
        )

    def on_no_graph(self, fact: CallsWithoutGraph) -> tuple[str, ...]:
        """Advise on a compiled function without a graph: a module that DDP wraps can be compiled itself."""
        own = [frame.filename for frame in fact.stack if self._workspace.contains(frame.filename)]
        if not fact.calls or not _DDP.search(fact.filename):
            return ()
        return (self._compile_ahead_of_ddp(own[-1] if own else ""),)

    def _compile_ahead_of_ddp(self, filename: str) -> str:
        mark = self._marks.only("ddp")
        inner = written(mark.argument if mark else None, "module")
        where = f" ({line_of(mark, filename)})" if mark else ""
        wrapped = code_span(f"DistributedDataParallel(torch.compile({inner}))")
        return f"Compile the module before it is wrapped: {wrapped}{where}."

    def _class(self, fact: GraphBreak | CompileFailure) -> Answer:
        said = f"{fact.reason if isinstance(fact, GraphBreak) else fact.message} {fact.explanation}"
        if not any(words in said for words in _MAKES_CLASS):
            return Answer()
        own = self._own(fact)
        source = self._workspace.source(own[-1].filename) if own else None
        cls = _class_at(source, own[-1].row) if source else None
        if source is None or cls is None:
            return Answer()
        function = definitions(source).function_at(cls.lineno)
        used = _captured(cls, function) if function else []
        given = f" Pass it what it takes from around it: {', '.join(map(code_span, used))}." if used else ""
        return Answer(
            filled("Each call makes a new class `{name}`.", name=cls.name),
            (
                filled(
                    "Define `{name}` once, outside of what is compiled: in the module, or in `__init__`.",
                    name=cls.name,
                )
                + given,
            ),
            instead=True,
        )

    def _no_generator(self, fact: GraphBreak | CompileFailure, filename: str) -> Answer:
        """Name the function that ``contextlib.contextmanager`` decorates, and that has no ``yield``."""
        said = _CODE_OBJECT.search(fact.text) if fact.code == "GB0221" else None
        source = self._workspace.source(said["file"]) if said else None
        if said is None or source is None or not self._workspace.contains(said["file"]):
            return Answer()
        function = next(
            (
                node
                for node in nodes_of(ast.FunctionDef, source.tree)
                if node.name == said["function"]
                and int(said["row"]) in (node.lineno, *(item.lineno for item in node.decorator_list))
            ),
            None,
        )
        if function is None:
            return Answer()
        name = code_span(definitions(source).qualname(function.lineno, function.name))
        decorator = next(
            (item for item in function.decorator_list if "contextmanager" in ast.unparse(item)), None
        )
        where = f" ({row_of(source, decorator.lineno, filename)})" if decorator else ""
        return Answer(
            f"{name} ({row_of(source, function.lineno, filename)}) is decorated with "
            f"`contextlib.contextmanager`{where} and has no `yield`: a call of it returns a context manager "
            "instead of its result.",
            (f"Remove the decorator{where} if a call is to return the result; else write `yield`.",),
            instead=True,
        )

    # -- places ------------------------------------------------------------------------------------

    def _filename(self, fact: GraphBreak | CompileFailure) -> str:
        """Return the file that a finding stands in."""
        own = self._own(fact)
        return own[-1].filename if own else ""

    def _own(self, fact: GraphBreak | CompileFailure) -> Sequence[StackFrame]:
        stack = self._places.full_stack(fact.stack, fact.compile_id)
        return [frame for frame in stack if self._workspace.contains(frame.filename)]

    def _qualname(self, frame: StackFrame) -> str:
        source = self._workspace.source(frame.filename)
        function = definitions(source).function_at(frame.row) if source else None
        if source is None or function is None:
            return frame.function
        return definitions(source).qualname(function.lineno, frame.function)


def _is_of_python(node: ast.AST) -> bool:
    """Tell whether an expression has a value of Python's: no operation of a tensor stands for it."""
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1 or isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("bool", "float", "int")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return True
    return isinstance(node, (ast.BoolOp, ast.IfExp)) or (
        isinstance(node, ast.Attribute) and node.attr in ("item", "tolist")
    )


def _is_operator_like(mark: Mark | None) -> bool:
    """Tell whether the call of a function may be in a graph: it returns something, as far as that is seen."""
    if mark is None or mark.definition is None:
        return mark is None or not isinstance(mark.argument, ast.Call)  # which makes a module
    return any(isinstance(node, ast.Return) and node.value for node in ast.walk(mark.definition))


def _calls_at(source: SourceFile, row: int, name: str) -> bool:
    return any(
        isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == name
        for top in source.nodes_at(row)
        for node in ast.walk(top)
    )


def _class_at(source: SourceFile, row: int) -> ast.ClassDef | None:
    nodes = ast.walk(source.tree) if source.tree else ()
    return next((node for node in nodes if isinstance(node, ast.ClassDef) and node.lineno == row), None)


def _captured(cls: ast.ClassDef, function: ast.AST) -> list[str]:
    """List the variables of a function that a class in it uses."""
    inside = {id(node) for node in ast.walk(cls)}
    bound = {node.arg for node in nodes_of(ast.arg, function) if id(node) not in inside}
    bound |= {
        node.id
        for node in nodes_of(ast.Name, function)
        if isinstance(node.ctx, ast.Store) and id(node) not in inside
    }
    own = {node.arg for node in nodes_of(ast.arg, cls)}
    names = [node.id for node in nodes_of(ast.Name, cls) if isinstance(node.ctx, ast.Load)]
    return [name for name in dict.fromkeys(names) if name in bound - own]
