"""Origins of guarded values: parameter, buffer, global, and the defining code.

torch's source of a guard names the dicts on the path to the value (``L['self']._buffers['mask']``); the
syntax tree shows where the names are defined. A value in a library's object is placed on the user's attribute
that holds this object.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..text.markdown import code_span
from ..text.source_names import written_name
from ..workspace.definitions import NameDefinition, ScopeDefinitions, definitions, self_name
from ..workspace.positions import Span
from ..workspace.source import SourceFile
from .model import FrameReport, Guard

_KINDS: Final = {"_buffers": "buffer", "_parameters": "parameter of a module", "_modules": "module"}
"""The dicts of ``torch.nn.Module`` in the sources of guards, with the kind of their values."""
_MEMBER: Final = re.compile(r"\.(_buffers|_parameters|_modules)\['\w+'\]$")
_STEP: Final = re.compile(r"\.(\w+)|\[[^\[\]]*\]")
_ROOT: Final = re.compile(r"[^\W\d]\w*")
_IMPORT: Final = re.compile(r"G\['__import_(\w+)'\]")
_CELL: Final = re.compile(r"__closure__|cell_contents")
_AMBIENT: Final = frozenset(
    {
        "GLOBAL_STATE",
        "GRAD_MODE",
        "DETERMINISTIC_ALGORITHMS",
        "TORCH_FUNCTION_STATE",
        "TORCH_FUNCTION_MODE_STACK",
        "FSDP_TRAINING_STATE",
        "DEFAULT_DEVICE",
        "BACKEND_MATCH",
        "AUTOGRAD_SAVED_TENSORS_HOOKS",
    }
)
"""The kinds of guards on the state of the process (``GuardBuilder`` in ``torch/_dynamo/guards.py``)."""


_Owned: TypeAlias = tuple[ScopeDefinitions, ast.ClassDef]
"""A class, with the definitions of its source file."""


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """A noun for the kind of a guarded value, and the user code that defines it."""

    kind: str
    span: Span | None


def is_ambient(guard: Guard) -> bool:
    """Return whether a guard is on the state of the process rather than on a value."""
    # The guard on hooks for saved tensors has no kind of its own (``init_ambient_guards``, output_graph.py).
    return not guard.source and (guard.kind in _AMBIENT or "saved_tensors_hooks" in guard.code)


def is_of_library(guard: Guard, files: Iterable[str]) -> bool:
    """Return whether a guard is on a global of a library, for an inlined function."""
    return _IMPORT.search(guard.source) is not None and _own_module(guard, files) is None


def _own_module(guard: Guard, files: Iterable[str]) -> str | None:
    """Return the user's file that defines a guarded global of an imported module.

    Return ``None`` for other guards, and for modules of libraries.
    """
    imported = _IMPORT.search(guard.source)
    if imported is None:
        return None
    path = "/" + imported[1].replace("_dot_", "/")
    ends = (f"{path}.py", f"{path}/__init__.py")
    return next((name for name in files if name.replace("\\", "/").endswith(ends)), None)


def origin_of(guard: Guard, frame: FrameReport, files: Mapping[str, SourceFile | None]) -> ValueOrigin | None:
    """Return the origin of the value that a guard of a compiled function checks.

    Return ``None`` for a guard on the state of the process, or on a value without a name.
    """
    name = written_name(guard.source)
    root = _ROOT.match(name)
    if root is None or is_ambient(guard):
        return None
    if is_of_library(guard, files):
        return ValueOrigin("part of a library", None)
    steps = [step[1] or "" for step in _STEP.finditer(name, root.end())]
    if module := _own_module(guard, files):
        return _of_module(guard, module, files)
    source = files.get(frame.filename)
    scope = definitions(source) if source else None
    kind, definition = _root(guard.source, root[0], frame, scope)
    if not steps:
        return ValueOrigin(kind, definition.span if definition else None)
    if member := _MEMBER.search(guard.source):
        kind = _KINDS[member[1]]
    elif name.endswith("]"):
        kind = f"item of a {kind}" if len(steps) == 1 else "item"
    elif kind != "built-in":
        kind = "attribute"
    place = _attribute_used(guard, steps, files) or _attribute(root[0], steps, frame, scope, files)
    if place is None and not any(steps):
        place = definition  # an item is placed on the definition of its container
    return ValueOrigin(kind, place.span if place else None)


def _of_module(guard: Guard, module: str, files: Mapping[str, SourceFile | None]) -> ValueOrigin:
    """Return the origin of a guarded global in another module of the user."""
    names = _IMPORT.split(guard.source)[-1]
    first = _STEP.search(names)
    if first is None or not first[1]:
        return ValueOrigin("module", None)
    source = files.get(module)
    definition = definitions(source).global_variable(first[1]) if source else None
    kind = "global" if first.end() == len(names) else "attribute"
    return ValueOrigin(kind, definition.span if definition and kind == "global" else None)


def _root(
    source: str, name: str, frame: FrameReport, scope: ScopeDefinitions | None
) -> tuple[str, NameDefinition | None]:
    """Return the kind and the definition of the first name in an expression."""
    if "G['__builtins_dict__" in source:
        return "built-in", None
    if _CELL.search(source):  # of a called function, whose names differ from those of the compiled function
        return "closure variable", None
    if "G[" in source and "L[" not in source:
        return "global", scope.global_variable(name) if scope else None
    function = scope.function(frame.row, frame.function) if scope else None
    if scope is None or function is None:
        return "local variable", None
    if definition := scope.parameter(function, name):
        return f"parameter of {code_span(frame.function)}", definition
    if definition := scope.outer_variable(function, name):
        return "closure variable", definition
    return "local variable", None


def _attribute_used(
    guard: Guard, steps: list[str], files: Mapping[str, SourceFile | None]
) -> NameDefinition | None:
    """Find an attribute's definition in the class of the code that first needs it."""
    source = files.get(guard.span.filename) if guard.span else None
    if guard.span is None or source is None or guard.span.row != guard.span.end_row:
        return None
    text = source.line(guard.span.row)[guard.span.column - 1 : guard.span.end_column - 1]
    scope = definitions(source)
    function = scope.function_at(guard.span.row)
    cls = scope.class_of(function) if function else None
    own = self_name(function) if function else ""
    if cls is None or not own or not text.startswith(f"{own}."):
        return None
    first = _STEP.match(text, len(own))
    # The code uses the guarded attribute only if both paths end with the same name.
    same = text.count(".") == 1 and first is not None and steps[-1] == first[1]
    return scope.attribute(cls, steps[-1]) if same else None


def _attribute(
    root: str,
    steps: list[str],
    frame: FrameReport,
    scope: ScopeDefinitions | None,
    files: Mapping[str, SourceFile | None],
) -> NameDefinition | None:
    """Find the definition at the end of a path from ``self``, through user classes."""
    function = scope.function(frame.row, frame.function) if scope else None
    cls = scope.class_of(function) if scope and function else None
    if scope is None or function is None or cls is None or root != self_name(function):
        return None
    every = [definitions(source) for source in files.values() if source is not None]
    owned: _Owned | None = (scope, cls)
    definition = None
    for step in steps:
        if not step:
            continue  # an item has the class with which the list is created
        attribute = _inherited(owned, step, every)
        if attribute is None:
            # A value that a library adds to a module is placed on the module; other places are unknown.
            return definition if owned is None else None
        definition, owned = attribute, _class_of(attribute.called, every)
    return definition


def _inherited(owned: _Owned | None, name: str, every: Sequence[ScopeDefinitions]) -> NameDefinition | None:
    """Find the definition of an attribute in a class or in its base classes."""
    seen: list[ast.ClassDef] = []
    while owned is not None and owned[1] not in seen:
        scope, cls = owned
        if definition := scope.attribute(cls, name):
            return definition
        seen.append(cls)
        owned = _class_of(frozenset(ast.unparse(base).rpartition(".")[2] for base in cls.bases), every)
    return None


def _class_of(names: frozenset[str], every: Iterable[ScopeDefinitions]) -> _Owned | None:
    """Return the user's class with one of ``names``; ``None`` unless exactly one has."""
    classes = [(scope, scope.classes[name]) for scope in every for name in names if name in scope.classes]
    return classes[0] if len(classes) == 1 else None
