"""Answers to breaks at disabled functions, hooks, checkpoints, class definitions."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Sequence
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
from ...workspace.syntax import covers, nodes_of
from ..source_locator import FactLocator
from .autograd import gradient_answer
from .calls import call_answer
from .coded import coded_answer
from .fake_calls import no_kernel_answer
from .marks import MarkUse, MarkUses, dotted
from .operators import branch_answer, merge_answer, raw_operator_answer, side_effect_answer, truth_answer
from .seen_errors import SeenBreak
from .words import FindingAnswer, line_of, row_of, written

_BY_DISABLE: Final = r"wrapped with `torch\.compiler\.disable` \(reason: (?P<reason>[^\n]{0,300})\)$"
_DISABLED: Final = re.compile(
    r"Skip (?:calling|inlining) function `?(?P<value><[^`\n]{1,200}>|[\w.]{1,200})`? since it was "
    rf"{_BY_DISABLE}",
    re.MULTILINE,
)
"""From ``variables/functions.py`` and ``symbolic_convert.py`` in ``torch/_dynamo`` (2.8 to 2.15)."""
_DISABLED_MODULE: Final = re.compile(
    r"Dynamo determined that a graph break should occur when calling `(?P<source>[^`]{1,300})`\. Reason: "
    rf"Optimized `nn\.Module` is {_BY_DISABLE}",
    re.MULTILINE,
)
"""A message from ``torch/_dynamo/variables/builder.py`` (torch 2.8 to 2.15)."""
_NAME: Final = re.compile(
    r"<(?:bound method|function) (?P<name>[\w.<>]+?)(?: at 0x\w+| of )|^(?P<plain>[\w.]+)$"
)
_MODULE_CALL: Final = re.compile(r"[/\\]torch[/\\]nn[/\\]modules[/\\]module\.py$")
_CHECKPOINT: Final = "torch.utils.checkpoint.checkpoint`"
_MAKES_CLASS: Final = ("__build_class__", "LOAD_BUILD_CLASS")
_ASKING: Final = re.compile(
    r"^Caused by: .*\((?P<place>(?!_dynamo[/\\])[^()\n]{1,200}:\d+) in (?P<function>\w+)\)$", re.MULTILINE
)
"""``_format_user_stack`` and similar code in ``torch/fx/experimental/symbolic_shapes.py`` (2.11 to 2.15)."""
_CODE_OBJECT: Final = re.compile(
    r"<code object (?P<function>\w{1,200}) at 0x\w{1,20}, "
    r'file "(?P<file>[^"\n]{1,1000})", line (?P<row>\d{1,9})>'
)
"""Python's ``repr`` of a code object, which torch quotes (``_dynamo/variables/functions.py``: 2.13)."""
_WITHOUT: Final = "Or leave `fullgraph=True`{where} out: then this call breaks the graph, and runs eagerly."
_LONGEST: Final = 60
_DDP: Final = re.compile(r"[/\\]torch[/\\]nn[/\\]parallel[/\\]distributed\.py$")


@dataclass(frozen=True, slots=True)
class _DisabledFunction:
    """A function that ``torch.compiler.disable`` keeps out of graphs.

    ``reason`` is the program's reason, or empty. ``mark`` is the use of ``disable``, if it was found.
    """

    name: str
    reason: str
    mark: MarkUse | None
    said: str
    """Torch's sentence about the function."""


def break_answer(seen: SeenBreak) -> FindingAnswer:
    """Return the answer to a graph break; an empty answer if the cause is unknown."""
    answer = FindingAnswer()
    for part in filter(None, (part(seen) for part in _PARTS)):
        answer = answer.with_part(part)
    return answer if answer.hints else answer.with_part(coded_answer(seen.fact))


# -- functions kept out of graphs --------------------------------------------------------------


def _disabled(seen: SeenBreak) -> FindingAnswer | None:
    disabled, fact = _disabled_callee(seen), seen.fact
    if disabled is None:
        return None
    name, mark = code_span(disabled.name), disabled.mark
    where = seen.where(mark)
    reason = f": {disabled.reason}" if disabled.reason else ""
    note = f"{name} is kept out of graphs by `torch.compiler.disable`{where}{reason}."
    if isinstance(fact, GraphBreak) and not fact.skips_frame and "Inside of" not in fact.explanation:
        note += " The graph ends before this call."
    hints = [f"If Dynamo can trace {name}, remove `torch.compiler.disable`{where}."]
    if mark is None and not seen.marks.defines(disabled.name):
        elsewhere = f"Call {name} outside of compiled code."
        hints = [f"{elsewhere} If it is in your code, you may remove `torch.compiler.disable`."]
    elif _hook_mark(seen) is not None:
        hints.append("Otherwise register it only on modules that are not compiled.")
    else:
        if _is_operator_like(mark):
            hints.append(
                f"Otherwise keep the call in the graph: with `torch._dynamo.nonstrict_trace` instead of "
                f"`torch.compiler.disable` if {name} only calls torch operations, else as a custom "
                "operator (`torch.library.custom_op`)."
            )
        hints.append(f"Or call {name} outside of compiled code.")
    if _fullgraph_marks(seen):
        hints.append("If the break is intended, leave `fullgraph=True` out: then this call runs eagerly.")
    return FindingAnswer(note, tuple(hints), replaced=disabled.said, instead=True)


def _disabled_callee(seen: SeenBreak) -> _DisabledFunction | None:
    """Return the disabled function that torch names as the reason of a break, if any."""
    if said := _DISABLED_MODULE.search(seen.fact.explanation):
        name = written_name(said["source"])
        disabling = seen.marks.all("disable")
        held = [mark for mark in disabling if name.rpartition(".")[2] in mark.names and name]
        mark = held[0] if len(held) == 1 else None
    elif said := _DISABLED.search(seen.fact.explanation):
        found = _NAME.search(said["value"])
        name = (found["name"] or found["plain"]).rpartition("<locals>.")[2] if found else ""
        mark = seen.marks.named("disable", name)
    if said is None or not name:
        return None
    reason = said["reason"].strip().rstrip(".")
    return _DisabledFunction(name, "" if reason == "None" else reason, mark, said[0])


def _not_reached(seen: SeenBreak) -> FindingAnswer | None:
    """Explain that ``disable`` on a caller does not disable the compiled function."""
    if not isinstance(seen.fact, CompileFailure):
        return None
    callers = seen.places.calling_stack(seen.fact.compile_id)
    mark = next((mark for frame in callers if (mark := _mark_around(frame, seen.marks))), None)
    if mark is None:
        return None
    name = seen.places.name_of(seen.fact.compile_id)
    compiled = seen.marks.compiling(name)
    caller, line = code_span(mark.name), seen.line(mark)
    note = f"`torch.compiler.disable` on {caller} ({line}) does not apply to functions compiled themselves"
    if len(compiled) == 1:
        note += f", such as {code_span(name)}{seen.where(*compiled)}"
    hint = (
        f"To run everything that {caller} calls uncompiled, write "
        '`@torch.compiler.set_stance("force_eager")` instead of `torch.compiler.disable` '
        f"({line})."
    )
    return FindingAnswer(f"{note}.", (hint,))


def _mark_around(frame: StackFrame, marks: MarkUses) -> MarkUse | None:
    for mark in marks.all("disable"):
        node = mark.definition
        inside = node is not None and covers(node, frame.row)
        if inside and mark.source.filename == frame.filename and "recursive" not in mark.keywords:
            return mark
    return None


def _fullgraph(seen: SeenBreak) -> FindingAnswer | None:
    """Name the ``fullgraph=True`` that turns a graph break into an error."""
    marks = _fullgraph_marks(seen)
    note = f"`fullgraph=True`{seen.where(*marks)} turns this graph break into an error."
    return FindingAnswer(note) if marks else None


def _gradient(seen: SeenBreak) -> FindingAnswer | None:
    """Advise on a gradient that Dynamo does not trace."""
    marks = _fullgraph_marks(seen)
    return gradient_answer(seen, _WITHOUT.format(where=seen.where(*marks)) if marks else "")


def _fullgraph_marks(seen: SeenBreak) -> list[MarkUse]:
    """List the ``torch.compile`` uses that may turn a break into an error.

    They are those that may compile the failing frame; the list is empty unless each has ``fullgraph=True``.
    """
    fact = seen.fact
    is_of_mark = isinstance(fact, CompileFailure) and fact.error == "Unsupported" and fact.code
    return _marks_of(fact.compile_id, seen.places, seen.marks) if is_of_mark else []


def _marks_of(compile_id: str, places: FactLocator, all_marks: MarkUses) -> list[MarkUse]:
    """List the ``torch.compile`` uses that may have compiled a frame.

    The list is empty unless each of them has ``fullgraph=True``.
    """
    marks = all_marks.compiling(places.name_of(compile_id))
    if not marks:
        callers = {frame.filename for frame in places.calling_stack(compile_id)}
        marks = [mark for mark in all_marks.all("compile") if mark.source.filename in callers]
    return marks if all(mark.is_on("fullgraph") for mark in marks) else []


def on_limit(fact: RecompileLimit, places: FactLocator, all_marks: MarkUses) -> str:
    """Name the ``fullgraph=True`` that turns a recompile limit into an error.

    The sentence is empty if the limit is not an error, or the ``fullgraph=True`` is not found.
    """
    marks = _marks_of(fact.compile_id, places, all_marks) if fact.fatal else []
    if not marks:
        return ""
    where = f" ({line_of(marks[0], fact.filename)})" if len(marks) == 1 else ""
    return f"`fullgraph=True`{where} turns the limit into an error: without it, such calls run eagerly."


def _transform(seen: SeenBreak) -> FindingAnswer | None:
    """Advise on a compiled function that is called by an uncompiled transform."""
    around = seen.places.calling_stack(seen.fact.compile_id)
    if seen.fact.code != "GB0149" or any(map(seen.places.is_compiled, around)):
        return None
    hint = (
        "Compile the function that calls the transform (`torch.func.grad`, `vmap`) instead of the function "
        "passed to it."
    )
    return FindingAnswer(hints=(hint,))


def _of_data(seen: SeenBreak) -> FindingAnswer | None:
    """Advise on a library function that needs a value that depends on tensor data."""
    fact = seen.fact
    asking = _ASKING.search(fact.text) if isinstance(fact, CompileFailure) else None
    if asking is None or "data-dependent expression" not in fact.text:
        return None
    name = code_span(asking["function"])
    note = f"{name} ({asking['place']}) needs a value that depends on the data of a tensor."
    hints = [
        f"Call {name} outside of compiled code, or replace it by your own code that does not need that value."
    ]
    mark = seen.marks.only("compile")
    if mark is not None and mark.is_on("fullgraph"):
        hints.append(_WITHOUT.format(where=seen.where(mark)))
    return FindingAnswer(note, tuple(hints), replaced=fact.explanation, instead=True)


def _only_raises(seen: SeenBreak) -> FindingAnswer | None:
    """Advise on a data-dependent branch that only raises an error."""
    source = seen.source if seen.fact.code == "GB0170" else None
    nodes = source.nodes_at(seen.row) if source else ()
    node = next((item for item in nodes if isinstance(item, ast.If)), None)
    if node is None or node.orelse or not all(isinstance(item, ast.Raise) for item in node.body):
        return None
    test = node.test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
        holds = ast.unparse(test)
    else:
        called = ast.Call(ast.Attribute(test, "logical_not", ast.Load()), [], [])
        holds = ast.unparse(called)
    can_write = len(holds) <= _LONGEST and not any(map(_is_of_python, ast.walk(test)))
    checked = code_span(f"torch._assert_async({holds})") if can_write else "`torch._assert_async`"
    return FindingAnswer(
        "This branch only raises an error.",
        (f"Check the condition before the compiled call, or write {checked}: then the graph checks it.",),
        instead=True,
    )


# -- hooks -------------------------------------------------------------------------------------


def _hook(seen: SeenBreak) -> FindingAnswer | None:
    mark = _hook_mark(seen)
    if mark is None:
        return None
    shown = written(mark.argument, "")
    name = code_span(shown) if shown else "This function"
    note = (
        f"{name} is a hook, registered on {seen.line(mark)}: it breaks the graph at each call of "
        "a module that has it."
    )
    skip = "If it need not run in compiled calls, begin it with `if torch.compiler.is_compiling(): return`."
    return FindingAnswer(note, () if _disabled_callee(seen) else (skip,))


def _hook_mark(seen: SeenBreak) -> MarkUse | None:
    """Return the registration of the hook that broke the graph; ``None`` for no hook."""
    stack = seen.stack
    calls = [index for index, frame in enumerate(stack) if _MODULE_CALL.search(frame.filename)]
    if not calls:
        return None
    rest = stack[calls[-1] + 1 :]
    if rest:
        return None if rest[0].function == "forward" else seen.marks.hook(rest[0].function)
    disabled = _disabled_callee(seen)
    return seen.marks.hook(disabled.name) if disabled else None


# -- checkpoints, wrappers, classes and decorators ---------------------------------------------


def _checkpoint(seen: SeenBreak) -> FindingAnswer | None:
    if _CHECKPOINT not in seen.fact.explanation or not isinstance(seen.fact, GraphBreak):
        return None
    for caller, called in itertools.pairwise(seen.own):
        source = seen.places.workspace.source(caller.filename)
        calls = (
            (node for top in source.nodes_at(caller.row) for node in nodes_of(ast.Call, top))
            if source
            else ()
        )
        if source is None or not any(dotted(node.func).rpartition(".")[2] == "checkpoint" for node in calls):
            continue
        name = code_span(seen.places.function_name(called))
        return FindingAnswer(
            f"A checkpointed function is captured as a whole or not at all: {name}, which "
            f"{row_of(source, caller.row, seen.filename)} checkpoints, runs eagerly.",
            (f"Compile {name} by itself, with `@torch.compile`: then only this call runs eagerly.",),
            eager=f"the whole of {name} runs eagerly",
        )
    return None


def wrapper_answer(seen: SeenBreak) -> FindingAnswer:
    """Explain a graph break at which DDP broadcasts the buffers of its module.

    Return an empty answer for other breaks.
    """
    if not any(_DDP.search(frame.filename) and "_sync_" in frame.function for frame in seen.stack):
        return FindingAnswer()
    return FindingAnswer(
        "Here it broadcasts the module's buffers, such as the statistics of a BatchNorm, to all ranks.",
        (
            _compile_ahead_of_ddp(seen.marks, seen.filename),
            "If buffers may differ between ranks, or never do, set `broadcast_buffers=False`.",
        ),
    )


def on_no_graph(fact: CallsWithoutGraph, places: FactLocator, marks: MarkUses) -> tuple[str, ...]:
    """Advise to compile a module before DDP wraps it, if the wrapper has no graph."""
    own = places.own(fact.stack)
    if not fact.calls or not _DDP.search(fact.filename):
        return ()
    return (_compile_ahead_of_ddp(marks, own[-1].filename if own else ""),)


def _compile_ahead_of_ddp(marks: MarkUses, filename: str) -> str:
    mark = marks.only("ddp")
    inner = written(mark.argument if mark else None, "module")
    where = f" ({line_of(mark, filename)})" if mark else ""
    wrapped = code_span(f"DistributedDataParallel(torch.compile({inner}))")
    return f"Compile the module before it is wrapped: {wrapped}{where}."


def _class(seen: SeenBreak) -> FindingAnswer | None:
    fact = seen.fact
    said = f"{fact.reason if isinstance(fact, GraphBreak) else fact.message} {fact.explanation}"
    if not any(words in said for words in _MAKES_CLASS):
        return None
    source = seen.source
    classes = nodes_of(ast.ClassDef, source.tree if source else None)
    cls = next((node for node in classes if node.lineno == seen.row), None)
    if source is None or cls is None:
        return None
    function = definitions(source).function_at(cls.lineno)
    used = _captured(cls, function) if function else []
    listed = ", ".join(map(code_span, used))
    given = f" Pass it the variables that it takes from the enclosing function: {listed}." if used else ""
    return FindingAnswer(
        filled("Each call creates a new class `{name}`.", name=cls.name),
        (
            filled(
                "Define `{name}` once, outside of compiled code: at module level, or in `__init__`.",
                name=cls.name,
            )
            + given,
        ),
        instead=True,
    )


def _no_generator(seen: SeenBreak) -> FindingAnswer | None:
    """Explain that a function with ``@contextlib.contextmanager`` has no ``yield``."""
    said = _CODE_OBJECT.search(seen.fact.text) if seen.fact.code == "GB0221" else None
    source = seen.places.workspace.own_source(said["file"]) if said else None
    if said is None or source is None:
        return None
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
        return None
    name = code_span(definitions(source).qualname(function.lineno, function.name))
    decorator = next(
        (item for item in function.decorator_list if "contextmanager" in ast.unparse(item)), None
    )
    where = f" ({row_of(source, decorator.lineno, seen.filename)})" if decorator else ""
    return FindingAnswer(
        f"{name} ({row_of(source, function.lineno, seen.filename)}) is decorated with "
        f"`contextlib.contextmanager`{where} but has no `yield`: a call of it returns a context manager "
        "instead of its result.",
        (f"Remove the decorator{where} if calls should return the result; otherwise add a `yield`.",),
        instead=True,
    )


def _is_of_python(node: ast.AST) -> bool:
    """Return whether an expression's value is a Python object rather than a tensor."""
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1 or isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("bool", "float", "int")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return True
    return isinstance(node, (ast.BoolOp, ast.IfExp)) or (
        isinstance(node, ast.Attribute) and node.attr in ("item", "tolist")
    )


def _is_operator_like(mark: MarkUse | None) -> bool:
    """Return whether a disabled function may return a value, as an operator does."""
    if mark is None or mark.definition is None:
        return mark is None or not isinstance(mark.argument, ast.Call)  # such a call creates a module
    return any(isinstance(node, ast.Return) and node.value for node in ast.walk(mark.definition))


def _captured(cls: ast.ClassDef, function: ast.AST) -> list[str]:
    """List the variables of ``function`` that ``cls``, a class defined in it, uses."""
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


_PARTS: Final[Sequence[Callable[[SeenBreak], FindingAnswer | None]]] = (
    _disabled,
    _hook,
    _class,
    _no_generator,
    branch_answer,
    side_effect_answer,
    truth_answer,
    merge_answer,
    raw_operator_answer,
    _gradient,
    call_answer,
    no_kernel_answer,
    _checkpoint,
    _not_reached,
    _transform,
    _of_data,
    _only_raises,
    _fullgraph,
)
"""The answers to graph breaks, and to the errors into which ``fullgraph=True`` turns graph breaks."""
