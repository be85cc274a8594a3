"""Parsers of TorchInductor's code for a graph: kernels defined and launched.

The code is Python (``torch/_inductor/codegen/wrapper.py``). Each kernel is an assignment
``name = async_compile.triton('name', '''...''')``, with the text of the kernel in a string. The functions of
the code (:mod:`.functions`) launch kernels, between calls of library functions (``extern_kernels.mm``).
Comments above a launch name the nodes of the graph that the launch computes. With provenance tracking, one
comment has the handle ``name:number``, by which other records refer to the launch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ...facts import Kernel, Phase, Stack
from ..decoding import parse_code, read_json
from ..messages import Source, parse_frames
from .functions import calls_of

_ID = re.compile(r"^# AOT ID: \['\w*_(forward|backward|inference)'\]", re.MULTILINE)
_SOURCES = re.compile(r"Source Nodes: \[([^\[\]]*)\]")
_HANDLE = re.compile(r"^\s*# \[Provenance debug handles\] (\S+)")
_EXTERN = ("extern_kernels.", "torch.ops.", "aten.")
_HEURISTIC = re.compile(r"^@triton_heuristics\.(\w+)", re.MULTILINE)
_GRID = re.compile(r"'grid_type': '(\w+)'")
_DEFINED = re.compile(r"^(\w+) = async_compile\.\w+\(", re.MULTILINE)
_CPP_WRAPPER: Final = "\ncpp_wrapper_src = ("
"""The text that ``CppWrapperCpu.write_header`` writes (``torch/_inductor/codegen/cpp_wrapper_cpu.py``): 2.13,
2.15."""
_LANGUAGES = {"cpp_pybinding": "cpp"}


@dataclass(frozen=True, slots=True)
class CodeLaunch:
    """A launch in generated code.

    ``sources`` are the nodes of Dynamo's graph that the launch computes.
    """

    kernel: Kernel
    handle: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeLaunches:
    """The launches in generated code, in order, and the kernels that have no launch."""

    found: tuple[CodeLaunch, ...]
    unread: tuple[str, ...] = ()


def called(kernel: Kernel) -> Kernel:
    """Return a library function, reduced to the operations that call this function.

    torch also lists operations of other kernels, which compute the arguments. A kernel with source text is
    returned unchanged.
    """
    operator = ".".join(kernel.name.removeprefix("torch.ops.").split(".")[:2])
    nodes = tuple(node for node in kernel.nodes if node.operator == operator)
    if kernel.source or not nodes:
        return kernel
    places = {(node.frame.filename, node.frame.row) for node in nodes if node.frame}
    stacks = tuple(
        stack for stack in kernel.stacks if any((frame.filename, frame.row) in places for frame in stack)
    )
    return replace(kernel, nodes=nodes, stacks=stacks or kernel.stacks)


def phase_of(code: str, lowered: Phase = "inference") -> Phase:
    """Return the pass to which generated code belongs.

    C++ code does not name its pass: the result is then ``lowered``.
    """
    found = _ID.search(code)
    return found[1] if found else lowered  # type: ignore[return-value]


def is_cpp_wrapper(code: str) -> bool:
    """Return whether Python code contains a C++ wrapper.

    TorchInductor writes a C++ wrapper if the setting ``cpp_wrapper`` is on.
    """
    return _CPP_WRAPPER in code


def parse_launches(code: str) -> CodeLaunches:
    """Read the launches of kernels and library functions.

    If the code is not Python, the result has no launches.
    """
    tree = parse_code(code)
    if tree is None:
        return CodeLaunches((), tuple(dict.fromkeys(_DEFINED.findall(code))))
    kernels = {kernel.name: kernel for kernel in map(_definition, tree.body) if kernel is not None}
    choices = _choices(tree, kernels)
    for name, others in choices.items():
        source = "\n\n".join(kernels[other].source for other in others)
        kernels[name] = replace(kernels[name], source=source)
    lines = code.splitlines()
    launches = []
    ends: dict[str, int] = {}
    for function, node in calls_of(tree):
        name = _launched(node, kernels)
        if not name:
            continue
        sources, handle = launch_comments(lines[ends.get(function.name, function.row) : node.lineno - 1])
        kernel = kernels.get(name)
        if kernel is None and not sources and not handle:
            continue  # a helper function of the generated code
        rows = (node.lineno, node.end_lineno or node.lineno)
        ends[function.name] = rows[1]
        launched = replace(
            kernel or Kernel(name, "extern"),
            launch=rows,
            arguments=tuple(map(ast.unparse, (*node.args, *node.keywords))),
            function=function.name if function.is_called else "",
            times=function.times,
        )
        launches.append(CodeLaunch(launched, handle, sources))
    known = {launch.kernel.name for launch in launches}.union(*choices.values())
    return CodeLaunches(tuple(launches), tuple(name for name in kernels if name not in known))


def parse_nodes_of(payload: str) -> dict[str, tuple[str, ...]]:
    """Read the nodes that each launch computes, by the launch's handle.

    ``payload`` is that of a ``..._node_mappings`` record.
    """
    nodes = _mapping(payload).get("cppCodeToPost")
    return {handle: tuple(names) for handle, names in nodes.items()} if isinstance(nodes, Mapping) else {}


def parse_stacks(payload: str, source: Source) -> dict[str, tuple[Stack, ...]]:
    """Read the user's stacks of each launch, by the launch's handle.

    ``payload`` is that of a ``..._kernel_stack_traces`` record.
    """
    return {
        handle: tuple(dict.fromkeys(parse_frames(str(text).splitlines(), source) for text in texts))
        for handle, texts in _mapping(payload).items()
    }


def _mapping(payload: str) -> Mapping[str, Any]:
    value = read_json(payload) if payload else None  # a cached graph has no payload
    return value if isinstance(value, Mapping) else {}


def _definition(statement: ast.stmt) -> Kernel | None:
    """Read a kernel from its definition; return ``None`` for any other statement.

    The definition is ``name = async_compile.triton('name', '''...''')``.
    """
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    function, target = statement.value.func, statement.targets[0]
    if not (
        isinstance(function, ast.Attribute)
        and ast.unparse(function.value) == "async_compile"
        and isinstance(target, ast.Name)
    ):
        return None
    # The source is the longest string; the kernel's name and the types of its arguments are also strings.
    constants = (node.value for node in ast.walk(statement.value) if isinstance(node, ast.Constant))
    source = max((value for value in constants if isinstance(value, str)), key=len, default="")
    heuristic, grid = triton_traits(source)
    return Kernel(
        name=target.id,
        language=_LANGUAGES.get(function.attr, function.attr),
        heuristic=heuristic,
        source=source.strip("\n"),
        definition=(statement.lineno, statement.end_lineno or statement.lineno),
        grid=grid,
    )


def _choices(tree: ast.Module, kernels: Container[str]) -> dict[str, list[str]]:
    """Return the kernels among which each multi-kernel chooses.

    The code is ``multi_kernel('name', [one, other])``.
    """
    choices: dict[str, list[str]] = {}
    for statement in tree.body:
        kernel = _definition(statement)
        if kernel is not None:
            names = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
            others = [name for name in names if name in kernels and name != kernel.name]
            choices |= {kernel.name: others} if others else {}
    return choices


def triton_traits(source: str) -> tuple[str, str]:
    """Return heuristic and grid type of a Triton kernel; empty for another language."""
    heuristic, grid = _HEURISTIC.search(source), _GRID.search(source)
    return heuristic[1] if heuristic else "", grid[1] if grid else ""


def _launched(call: ast.Call, kernels: Container[str]) -> str:
    """Return the kernel or library function that a call launches; empty if none."""
    name = ast.unparse(call.func)
    if name.removesuffix(".run") in kernels:
        return name.removesuffix(".run")
    return name if name.startswith(_EXTERN) else ""


def launch_comments(lines: list[str]) -> tuple[tuple[str, ...], str]:
    """Read the nodes of Dynamo's graph and the handle in the comments above a launch."""
    sources: tuple[str, ...] = ()
    handle = ""
    for line in lines:
        if found := _SOURCES.search(line):
            sources = tuple(filter(None, (name.strip() for name in found[1].split(","))))
        elif found := _HANDLE.match(line):
            handle = found[1]
    return sources, handle
