"""What a guarded value is to the user's code (a parameter, a buffer, a global), and where it gets its value.

Torch's source of a guard says through which dicts it goes (``L['self']._buffers['mask']``); the syntax tree
says where those names are defined. Of what is found in a library, the user's attribute that holds it counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ..workspace.definitions import Definition, Definitions, definitions
from ..workspace.source import SourceFile
from .names import written_name
from .report import FrameReport, Guard, Span

_KINDS: Final = {"_buffers": "buffer", "_parameters": "parameter of a module", "_modules": "module"}
"""The dicts of ``torch.nn.Module`` that guards go through, and what is in them."""
_MEMBER: Final = re.compile(r"\.(_buffers|_parameters|_modules)\['\w+'\]$")
_STEP: Final = re.compile(r"\.(\w+)|\[[^\]]*\]")
_ROOT: Final = re.compile(r"[^\W\d]\w*")
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


@dataclass(frozen=True, slots=True)
class Origin:
    """What a guarded value is, in words, and where it gets its value, if that is in the user's code."""

    kind: str
    span: Span | None


def is_ambient(guard: Guard) -> bool:
    """Whether a guard is on the state of the process rather than on a value."""
    # The one on hooks for saved tensors has no kind of its own (``init_ambient_guards``, output_graph.py).
    return not guard.source and (guard.kind in _AMBIENT or "saved_tensors_hooks" in guard.code)


def is_of_library(guard: Guard) -> bool:
    """Whether a guard is on something of an imported module's, that an inlined function of it uses."""
    return "G['__import_" in guard.source


def origin_of(guard: Guard, frame: FrameReport, files: Mapping[str, SourceFile | None]) -> Origin | None:
    """Where the value comes from that a guard of a compiled function is on; ``None`` for ambient state."""
    name = written_name(guard.source)
    root = _ROOT.match(name)
    if root is None or is_ambient(guard):
        return None
    if is_of_library(guard):
        return Origin("part of a library", None)
    source = files.get(frame.filename)
    known = definitions(source) if source else None
    kind, found = _root(guard.source, root[0], frame, known)
    steps = [step[1] or "" for step in _STEP.finditer(name, root.end())]
    if not steps:
        return Origin(kind, found.span if found else None)
    if member := _MEMBER.search(guard.source):
        kind = _KINDS[member[1]]
    elif name.endswith("]"):
        kind = f"item of a {kind}" if len(steps) == 1 else "item"
    elif kind != "built-in":
        kind = "attribute"
    place = _attribute_used(guard, steps, files) or _attribute(root[0], steps, frame, known, files) or found
    return Origin(kind, place.span if place else None)


def _root(
    source: str, name: str, frame: FrameReport, known: Definitions | None
) -> tuple[str, Definition | None]:
    """What the name is with which an expression begins."""
    if "G['__builtins_dict__" in source:
        return "built-in", None
    if "G[" in source and "L[" not in source:
        return "global", known.global_variable(name) if known else None
    function = known.function(frame.row, frame.function) if known else None
    if known is None or function is None:
        return "closure variable" if _CELL.search(source) else "local variable", None
    if found := known.parameter(function, name):
        return f"parameter of `{frame.function}`", found
    if found := known.outer_variable(function, name):
        return "closure variable", found
    return "local variable", None


def _attribute_used(
    guard: Guard, steps: list[str], files: Mapping[str, SourceFile | None]
) -> Definition | None:
    """The definition of ``self.scale`` in the class whose method first needs it."""
    source = files.get(guard.span.filename) if guard.span else None
    if guard.span is None or source is None or guard.span.row != guard.span.end_row:
        return None
    text = source.line(guard.span.row)[guard.span.column - 1 : guard.span.end_column - 1]
    known = definitions(source)
    function = known.function_at(guard.span.row)
    cls = known.class_of(function) if function else None
    if cls is None or not text.startswith("self."):
        return None
    first = _STEP.match(text, len("self"))
    # It is the same value only where the path ends the same way.
    same = text.count(".") == 1 and first is not None and steps[-1] == first[1]
    return known.attribute(cls, steps[-1]) if same else None


def _attribute(
    root: str,
    steps: list[str],
    frame: FrameReport,
    known: Definitions | None,
    files: Mapping[str, SourceFile | None],
) -> Definition | None:
    """The definition that a path from ``self`` leads to, as far as its classes are the user's own."""
    function = known.function(frame.row, frame.function) if known else None
    if root != "self" or known is None or function is None:
        return None
    every = [definitions(source) for source in files.values() if source is not None]
    cls, found = known.class_of(function), None
    for step in steps:
        if not step:
            continue  # an item is of the class that the list is made with
        owner = next((item for item in every if cls is not None and item.classes.get(cls.name) is cls), None)
        attribute = owner.attribute(cls, step) if owner is not None and cls is not None else None
        if attribute is None:
            break
        found, cls = attribute, _class_of(attribute, every)
    return found


def _class_of(found: Definition, every: Iterable[Definitions]) -> ast.ClassDef | None:
    """The user's class of a value, if it is one only that is called to make it."""
    classes = [known.classes[name] for known in every for name in found.called if name in known.classes]
    return classes[0] if len(classes) == 1 else None
