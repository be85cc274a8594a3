"""Repros: Python files that run a case and need only torch."""

from __future__ import annotations

import builtins
import inspect
import keyword
import linecache
import os
import re
from collections.abc import Iterator
from dataclasses import replace

import torch

from ..facts import FaultLocated, StackFrame
from . import self_check
from .case import (
    CaseGraph,
    CaseOperation,
    ConstantCode,
    FailureCase,
    ResultRef,
    Value,
    all_operations,
    leaves,
    references,
    uses,
)
from .layout import assemble, comment
from .writing import (
    AUTOGRAD_FUNCTION,
    DATA_WAS_SET,
    EXACT,
    INVOKE_SUBGRAPH,
    assignment,
    autograd_function,
    call,
    class_title,
    expression,
    make,
)


def program(case: FailureCase) -> str:
    """Return a program with ``Repro``, ``inputs()`` and ``compiled(module, args)``."""
    return _file(case, [])


def write(case: FailureCase, fault: FaultLocated, environment: str) -> str:
    """Return the text of a repro that checks whether it still fails in the same way."""
    check = self_check.code(case, fault.failure)
    return _header(case, fault, environment) + _file(case, ["# -- the check --", *check])


def _file(case: FailureCase, check: list[str]) -> str:
    of_torch = _IMPORTS_OF_ATEN if case.level == "aot" else ()
    return assemble(
        case.preamble, [*_modules(case), _inputs(case), _compiled(case), *check], case.settings, of_torch
    )


_IMPORTS_OF_ATEN = (
    "from torch._inductor.compile_fx import compile_fx_inner",
    "from torch.fx.experimental.proxy_tensor import make_fx",
)


# -- the graph ---------------------------------------------------------------------------------


def _modules(case: FailureCase) -> list[str]:
    """Return code for a class of the graph, after the classes of its subgraphs."""
    roots = [*_roots(case.graph), *re.findall(r"\w+", case.backend)]
    taken = {*dir(builtins), *keyword.kwlist, *roots, "self", "torch", "math"}
    classes: dict[str, str] = {}
    _add_class("Repro", case.graph, case, taken, classes)
    return list(classes.values())


def _add_class(
    title: str,
    graph: CaseGraph,
    case: FailureCase,
    taken: set[str],
    classes: dict[str, str],
    *,
    is_region: bool = False,
) -> None:
    names = _python_names((*graph.parameters, *(item.name for item in graph.operations)), taken)
    fields = _python_names([name for name, _ in graph.subgraphs], {*keyword.kwlist, *dir(torch.nn.Module())})
    regions = set() if case.level == "aot" else {*_regions(graph)}
    lines = []
    titles: dict[str, str] = {}
    if graph.subgraphs:
        lines += ["    def __init__(self):", "        super().__init__()"]
        for name, subgraph in graph.subgraphs:
            inner = class_title(name)
            inner = _python_names([inner], {*classes, "Repro"})[inner]
            _add_class(inner, subgraph, case, taken, classes, is_region=name in regions)
            titles[name] = inner
            lines.append(f"        self.{fields[name]} = {inner}()")
        lines.append("")
    names |= {
        item.name: f"self.{fields.get(item.target, item.target)}"
        for item in graph.operations
        if item.kind == "get_attr"
    }
    graph = _with_functions(graph, titles, classes)
    parameters = ", ".join(["self", *(names[name] for name in graph.parameters)])
    lines += ["    @torch.compiler.nested_compile_region"] if is_region else []
    lines.append(f"    def forward({parameters}):")
    lines += [f"        {line}" for line in _body(graph, names, case.level == "aot")]
    outputs: Value = graph.outputs
    if title == "Repro":
        outputs = list(outputs)
    elif graph.bare:
        (outputs,) = outputs
    lines.append(f"        return {expression(outputs, names)}")
    classes[title] = "\n".join([f"class {title}(torch.nn.Module):", *lines])


def _with_functions(graph: CaseGraph, titles: dict[str, str], classes: dict[str, str]) -> CaseGraph:
    """Add a class for each ``autograd.Function``, and return a graph that calls these.

    Each class combines two subgraphs: forward and backward. ``titles`` has the names of the subgraphs'
    classes.
    """
    held = {item.name: item.target for item in graph.operations if item.kind == "get_attr"}
    subgraphs = dict(graph.subgraphs)
    operations = []
    for operation in graph.operations:
        if operation.target == AUTOGRAD_FUNCTION:
            forward, backward = (held[operation.args[place].name] for place in (0, 1))
            (title,) = _python_names(["Function"], {*classes, "Repro"}).values()
            if subgraphs[forward].subgraphs or subgraphs[backward].subgraphs:
                raise ValueError("an autograd.Function has a subgraph")
            classes[title] = autograd_function(
                title, (titles[forward], titles[backward]), subgraphs[forward].outputs, dict(operation.kwargs)
            )
            operation = replace(operation, target=f"{title}.apply", args=operation.args[2:], kwargs=())
        operations.append(operation)
    return replace(graph, operations=tuple(operations))


def _regions(graph: CaseGraph) -> Iterator[str]:
    """Yield the names of the subgraphs that are nested compile regions."""
    held = {item.name: item.target for item in graph.operations if item.kind == "get_attr"}
    for operation in graph.operations:
        if operation.target == INVOKE_SUBGRAPH:
            yield held[operation.args[0].name]


def _body(graph: CaseGraph, names: dict[str, str], in_aten: bool) -> Iterator[str]:
    used = {name for operation in graph.operations for name in uses(operation)} | {*references(graph.outputs)}
    data_set = {next(uses(item)) for item in graph.operations if item.target == DATA_WAS_SET}
    place = None
    for operation in graph.operations:
        if operation.kind == "get_attr" or operation.target == DATA_WAS_SET:
            continue
        frame = user_frame(operation)
        if frame is not None and (frame.filename, frame.row) != place:
            yield f"# {_described(frame)}"
        place = frame and (frame.filename, frame.row)
        if operation.target.endswith("triton_kernel_wrapper_functional"):
            operation, copies = _copying(operation, names)
            yield copies
        result = names[operation.name]
        if operation.name in data_set:
            tensor, data = (expression(arg, names) for arg in operation.args)
            yield f"{tensor}.data = {data}"
            yield f"{result} = {tensor}"
            continue
        statement = assignment(operation, names)
        if operation.name not in used or "triton_kernel_wrapper" in operation.target:
            yield statement or call(operation, names, in_aten)
        else:
            yield f"{result} = {call(operation, names, in_aten)}"


def _copying(operation: CaseOperation, names: dict[str, str]) -> tuple[CaseOperation, str]:
    """Return a Triton call that writes to copies, and the line that creates them."""
    kwargs = dict(operation.kwargs)
    arguments = kwargs["kwargs"]
    result = names[operation.name]
    copied = kwargs.get("tensors_to_clone") or [
        name for name, value in arguments.items() if isinstance(value, ResultRef)
    ]
    copies = {name: ConstantCode(f"torch.clone({expression(arguments[name], names)})") for name in copied}
    kwargs["kwargs"] = arguments | {name: ConstantCode(f"{result}[{name!r}]") for name in copied}
    changed = CaseOperation(
        operation.name, operation.kind, operation.target, operation.args, tuple(kwargs.items())
    )
    return changed, f"{result} = {expression(copies, names)}"


def _roots(graph: CaseGraph) -> Iterator[str]:
    """Yield the global names that the code of a graph may use."""
    for operation in graph.operations:
        if operation.kind == "call_function":
            yield operation.target.partition(".")[0]
    used = (graph.outputs, *((item.args, dict(item.kwargs)) for item in graph.operations))
    codes = [leaf.text for leaf in leaves(used) if isinstance(leaf, ConstantCode)]
    yield from re.findall(r"(?<![\w.])[A-Za-z_]\w*", "\n".join(codes))
    for _, subgraph in graph.subgraphs:
        yield from _roots(subgraph)


def _python_names(names: tuple[str, ...] | list[str], taken: set[str]) -> dict[str, str]:
    """Return a similar, unique Python identifier for each name, not in ``taken``."""
    python_names: dict[str, str] = {}
    taken = set(taken)
    for name in names:
        plain = re.sub(r"\W", "_", name)
        plain = f"_{plain}" if not plain or plain[0].isdigit() else plain
        while plain in taken:
            plain += "_"
        taken.add(plain)
        python_names[name] = plain
    return python_names


# -- the user's lines --------------------------------------------------------------------------

_TORCH = os.path.dirname(inspect.getfile(torch)) + os.sep


def user_frame(operation: CaseOperation) -> StackFrame | None:
    """Return the innermost frame of an operation's stack outside of torch, if any.

    If all frames are in torch, return the innermost frame.
    """
    outside = [frame for frame in operation.calls if not frame.filename.startswith(_TORCH)]
    return next(reversed(outside or operation.calls), None)


def _described(frame: StackFrame) -> str:
    text = linecache.getline(frame.filename, frame.row).strip()
    text = f": {text[:80]}" if text else ""
    return f"{os.path.basename(frame.filename)}:{frame.row} in {frame.function}{text}"


# -- inputs and compilation --------------------------------------------------------------------


def _inputs(case: FailureCase) -> str:
    given = {item.name: item for item in case.inputs}
    names = _python_names(case.graph.parameters, set())
    written = _written(case.graph)
    lines = []
    for name in case.graph.parameters:
        spec = given[name].spec
        text = make(given[name], leaf=name not in written and (spec is None or spec.leaf))
        lines += [f"        {line}" for line in f"{text},  # {names[name]}".splitlines()]
    random = any(word in line for word in ("torch.randn(", "torch.randint(") for line in lines)
    start = ["    torch.manual_seed(0)"] if random else []
    text = "\n".join(["def inputs():", *start, "    return [", *lines, "    ]"])
    return f"{EXACT}\n\n{text}" if "exact(\n" in text else text


def _written(graph: CaseGraph) -> set[str]:
    """Return the names of the inputs that an operation may write to."""
    first = {item.name: next(uses(item), None) for item in graph.operations}
    written = set()
    for operation in graph.operations:
        target = operation.target.removesuffix(".default").rpartition(".")[2]
        in_place = target.endswith("_") and not target.endswith("__")
        if in_place or re.match(r"operator\.(i\w+|setitem)$", operation.target):
            name = first[operation.name]
            while name in first:
                name = first[name]
            written.add(name or "")
    return written


_ATEN = """\
def compiled(module, args):
    graph = make_fx(module{mode})(*args)
    code = compile_fx_inner(graph, {args})
    return lambda *args: code(list(args))
"""


def _compiled(case: FailureCase) -> str:
    if case.level == "aot" and case.dynamic:
        args = '[node.meta["val"] for node in graph.graph.find_nodes(op="placeholder")]'
        return _ATEN.format(mode=', tracing_mode="symbolic"', args=args)
    if case.level == "aot":
        return _ATEN.format(mode="", args="args")
    backend = case.backend if case.backend_is_code else f'"{case.backend}"'
    options = [f"backend={backend}", *(["dynamic=True"] if case.dynamic else [])]
    options += ["fullgraph=True"] if case.fullgraph else []
    return f"def compiled(module, args):\n    return torch.compile(module, {', '.join(options)})"


# -- the header --------------------------------------------------------------------------------

_STAGES = {
    "eager": "Dynamo",
    "aot_eager": "AOTAutograd",
    "aot_eager_decomp_partition": "AOTAutograd with TorchInductor's decompositions and partitioner",
    "inductor": "TorchInductor",
}
_MOST_LINES = 5
_HOLDS = "it contains code of your program, and may contain values of its inputs and weights. Read it."


def _header(case: FailureCase, fault: FaultLocated, environment: str) -> str:
    frames = [user_frame(item) for item in all_operations(case.graph)]
    places = list(dict.fromkeys(_described(frame) for frame in frames if frame))
    extra = [f"and {len(places) - _MOST_LINES} more lines"] if len(places) > _MOST_LINES else []
    options = " (with --raise, by its traceback)" if fault.failure.kind == "error" else ""
    lines = [
        self_check.sentence(_STAGES.get(fault.stage, f"The backend {fault.stage}"), fault.failure),
        *([f"The stage before, {fault.passes}, passes."] if fault.passes else []),
        *([f"Torch's bisector names {fault.detail}."] if fault.detail else []),
        *(["", *(f"    {line}" for line in [*places[:_MOST_LINES], *extra]), ""] if places else []),
        f"Run it to see whether it still fails{options}: the exit code is 0 if so, else 1.",
        *environment.splitlines(),
    ]
    return comment(lines, _HOLDS) + "\n"
