"""Uses of ``torch.compile``, ``disable`` and the like; registrations of hooks.

This package calls such a use a mark.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from fullgraph_compiler.facts import StackFrame

from ...workspace.definitions import definitions
from ...workspace.source import SourceFile
from ...workspace.syntax import dotted as dotted
from ...workspace.syntax import imports, last_name, nodes_of, resolved
from ...workspace.workspace import Workspace

Use: TypeAlias = Literal[
    "compile",
    "disable",
    "hook",
    "create_graph",
    "wraps",
    "custom_op",
    "define",
    "library",
    "ddp",
    "inference_mode",
    "cached",
]
_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_FUNCTIONS: Final[Mapping[str, Use]] = {
    "torch.compile": "compile",
    "torch.compiler.compile": "compile",
    "torch.compiler.disable": "disable",
    "torch._dynamo.disable": "disable",
    "functools.wraps": "wraps",
    "functools.lru_cache": "cached",
    "functools.cache": "cached",
    "torch.library.custom_op": "custom_op",
    "torch.library.define": "define",
    "torch.library.Library": "library",
    "torch.inference_mode": "inference_mode",
    "torch.autograd.inference_mode": "inference_mode",
    "torch.nn.parallel.DistributedDataParallel": "ddp",
    "torch.nn.parallel.distributed.DistributedDataParallel": "ddp",
}
_OPTIONS: Final = frozenset(
    ("fullgraph", "dynamic", "backend", "mode", "options", "disable", "recompile_limit", "isolate_recompiles")
)
"""The parameters of ``torch.compile``; ``Module.compile`` takes them, too."""
_DEFINING: Final[Sequence[Use]] = ("custom_op", "define")
"""The uses that define an operator."""
_PARTIAL: Final = "functools.partial"


@dataclass(frozen=True, slots=True, eq=False)
class MarkUse:
    """A use of a function such as ``torch.compile`` in the source.

    It is a decorator of ``definition``, or a call with ``argument`` as the first argument; for
    ``Module.compile``, ``argument`` is the module. ``names`` are the variables and attributes to which the
    result of the call is assigned; for ``Library.define``, the variable with the library.
    """

    use: Use
    source: SourceFile
    row: int
    keywords: Mapping[str, ast.expr]
    argument: ast.expr | None = None
    definition: _Definition | None = None
    names: tuple[str, ...] = ()
    in_place: bool = False
    """Whether the call is ``Module.compile``, which compiles the module in place."""

    @property
    def name(self) -> str:
        """The last part of the name of the decorated or passed function or module.

        The name is empty if the argument is an expression without a name.
        """
        return self.definition.name if self.definition else last_name(self.argument)

    @property
    def returns_nothing(self) -> bool:
        """Whether this use defines an operator whose schema has no result."""
        return self.use == "define" and any(
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.rstrip().endswith("-> ()")
            for node in (self.argument, self.keywords.get("schema"))
        )

    def is_on(self, option: str) -> bool:
        """Return whether the source passes ``True`` for an option."""
        value = self.keywords.get(option)
        return isinstance(value, ast.Constant) and value.value is True


class MarkUses:
    """The uses of ``torch.compile`` and the like in the user's files."""

    def __init__(self, sources: Callable[[], Iterable[SourceFile]]) -> None:
        self._sources = sources
        self._all: Sequence[MarkUse] | None = None

    def all(self, use: Use) -> list[MarkUse]:
        """List the marks of one kind, in the order of files and rows."""
        if self._all is None:
            self._all = [mark for source in self._sources() for mark in marks_of(source)]
        return [mark for mark in self._all if mark.use == use]

    def only(self, use: Use) -> MarkUse | None:
        """Return the only mark of one kind; ``None`` unless there is exactly one."""
        found = self.all(use)
        return found[0] if len(found) == 1 else None

    def named(self, use: Use, name: str) -> MarkUse | None:
        """Return the only mark on a function, by its name (``attend``, ``Block.attend``)."""
        last = name.rpartition(".")[2]
        found = [mark for mark in self.all(use) if last and mark.name == last]
        return found[0] if len(found) == 1 else None

    def operator(self, name: str) -> MarkUse | None:
        """Return the only definition of an operator, by qualified name: ``demo::scale``."""
        found = [
            mark
            for use in _DEFINING
            for mark in self.all(use)
            if name in (operator := _defined_name(mark), *self._in_libraries(mark, operator))
        ]
        return found[0] if len(found) == 1 else None

    def _in_libraries(self, mark: MarkUse, operator: str) -> Iterator[str]:
        """Yield the qualified names of an operator that ``Library.define`` defines."""
        for library in self.all("library") if mark.use == "define" and mark.names else ():
            namespace = library.argument.value if isinstance(library.argument, ast.Constant) else None
            if set(library.names).intersection(mark.names) and isinstance(namespace, str):
                yield f"{namespace}::{operator}"

    def hook(self, name: str) -> MarkUse | None:
        """Return the first registration of a hook, by the hook's name.

        Another function can make the hook, as in ``register_forward_hook(keep("conv"))``.
        """
        return next((mark for mark in self.all("hook") if name and name in hook_names(mark)), None)

    def compiling(self, function: str) -> list[MarkUse]:
        """List the uses of ``torch.compile`` on a function.

        ``Block`` and ``Block.forward`` are the same function.
        """
        parts = {part for part in function.split(".") if part != "forward"}
        return [mark for mark in self.all("compile") if parts.intersection(_names_in(mark))]

    def mention(self, text: str) -> bool:
        """Return whether any of the files contains a text."""
        return any(text in source.text for source in self._sources())

    def defines(self, name: str) -> bool:
        """Return whether any of the files defines a function of this name."""
        last = name.rpartition(".")[2]
        return any(
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == last
            for source in self._sources()
            for node in (ast.walk(source.tree) if source.tree else ())
        )


def mark_around(use: Use, frame: StackFrame, workspace: Workspace) -> MarkUse | None:
    """Return the decorator of one kind on the function that contains a frame's row."""
    source = workspace.own_source(frame.filename)
    marks = [mark for mark in marks_of(source) if mark.use == use] if source else []
    function = definitions(source).function_at(frame.row) if source and marks else None
    return next((mark for mark in marks if function is not None and mark.definition is function), None)


@lru_cache(maxsize=256)
def marks_of(source: SourceFile) -> Sequence[MarkUse]:
    """Return the marks in a source file, sorted by row."""
    if source.tree is None:
        return ()
    imported = imports(source.tree)
    found: list[MarkUse] = []
    decorators: set[int] = set()
    assigned: dict[int, tuple[str, ...]] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, _Definition):
            decorators.update(id(item) for item in node.decorator_list)
            found += (
                mark for item in node.decorator_list if (mark := _decorator(source, item, node, imported))
            )
        elif isinstance(node, ast.Assign):
            assigned[id(node.value)] = tuple(filter(None, map(last_name, node.targets)))
        elif isinstance(node, ast.Call) and id(node) not in decorators:
            names = assigned.get(id(node), ())
            if mark := _call(source, node, imported, names):
                found.append(mark)
    return sorted(found, key=lambda mark: mark.row)


def _decorator(
    source: SourceFile, item: ast.expr, definition: _Definition, imported: Mapping[str, str]
) -> MarkUse | None:
    call = item if isinstance(item, ast.Call) else None
    function = call.func if call else item
    if call and resolved(function, imported) == _PARTIAL and call.args:
        function = call.args[0]
    use = _FUNCTIONS.get(resolved(function, imported))
    if use is None:
        return None
    argument = call.args[0] if call and call.args else None
    return MarkUse(use, source, item.lineno, _keywords(call), argument, definition)


def _call(
    source: SourceFile, node: ast.Call, imported: Mapping[str, str], names: tuple[str, ...]
) -> MarkUse | None:
    name = resolved(node.func, imported)
    argument = node.args[0] if node.args else None
    use: Use | None = _FUNCTIONS.get(name)
    attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    in_place = use is None and attribute == "compile" and not node.args and _keywords(node).keys() <= _OPTIONS
    if in_place and isinstance(node.func, ast.Attribute):
        # ``Module.compile``: other ``compile`` functions, such as ``re.compile``, take a positional argument.
        use, argument = "compile", node.func.value
    elif use is None and attribute == "define" and isinstance(argument, ast.Constant):
        use, names = "define", (last_name(node.func.value),) if isinstance(node.func, ast.Attribute) else ()
    elif attribute.startswith("register_") and attribute.endswith("_hook"):
        use = "hook"
    elif use is None and "create_graph" in (keywords := _keywords(node)):
        value = keywords["create_graph"]
        use = "create_graph" if isinstance(value, ast.Constant) and value.value is True else None
    if use is None:
        return None
    return MarkUse(use, source, node.lineno, _keywords(node), argument, None, names, in_place)


def _keywords(call: ast.Call | None) -> dict[str, ast.expr]:
    return {item.arg: item.value for item in (call.keywords if call else ()) if item.arg}


def _defined_name(mark: MarkUse) -> str:
    """Return the name of the operator that a mark defines, without the schema's types."""
    written = mark.argument.value if isinstance(mark.argument, ast.Constant) else ""
    return str(written).partition("(")[0].strip()


def hook_names(mark: MarkUse) -> frozenset[str]:
    """Return the names that the hook of a registration can have.

    If a call such as ``keep("conv")`` makes the hook, they include the functions defined in ``keep``.
    """
    given = mark.argument
    if not isinstance(given, ast.Call):
        return frozenset(filter(None, (last_name(given),)))
    # With ``functools.partial``, the first argument is the function that makes the hook.
    makers = {last_name(given.func), *map(last_name, given.args[:1])}
    return frozenset(makers) | _defined_in(mark.source, frozenset(makers))


@lru_cache(maxsize=256)
def _defined_in(source: SourceFile, names: frozenset[str]) -> frozenset[str]:
    """Return the names of functions defined inside the functions in ``names``."""
    return frozenset(
        inner.name
        for node in (ast.walk(source.tree) if source.tree else ())
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in names
        for inner in ast.walk(node)
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner is not node
    )


def _names_in(mark: MarkUse) -> Iterator[str]:
    """Yield the names of functions, modules and classes that a mark may compile.

    They are the names in the compiled expression, and those called in values assigned to its variables.
    """
    if mark.definition is not None:
        yield mark.definition.name
        return
    for node in ast.walk(mark.argument) if mark.argument else ():
        if name := last_name(node):
            yield name
            yield from _constructors(mark.source, name)


@lru_cache(maxsize=1024)
def _constructors(source: SourceFile, name: str) -> frozenset[str]:
    """Return the functions and classes called in values that are assigned to a name."""
    return frozenset(
        last_name(call.func)
        for node in nodes_of(ast.Assign, source.tree)
        if name in map(last_name, node.targets)
        for call in nodes_of(ast.Call, node.value)
    )
