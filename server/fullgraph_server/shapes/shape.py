"""JSON objects described by a table of keys.

The objects are made by the table. The published JSON Schemas (``scripts/json_schema.py``) and the client's
types (``scripts/protocol_types.py``) are generated from the same table.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from ..workspace.positions import Span


class JsonEdge:
    """Converter of keys, places and texts to JSON; keeps keys and texts by default."""

    def key(self, name: str) -> str:
        """Return the written name of a key."""
        return name

    def leaves(self, value: object) -> bool:  # noqa: ARG002
        """Tell whether keys with this value are written."""
        return True

    def place(self, span: Span) -> Any:
        """Return the written form of a place. The default raises ``TypeError``."""
        raise TypeError(f"{span} needs a shape")

    def text(self, name: str, text: str) -> str:  # noqa: ARG002
        """Return the written form of a key's text."""
        return text


PLAIN: Final = JsonEdge()


@dataclass(frozen=True)
class JsonKey:
    """A key of a JSON object.

    Its value is the item's attribute at ``path``, names separated by dots (by default ``name``). If there is
    a function ``value``, it computes the value from the item and the edge instead, and ``type`` is the
    value's type. ``shape`` is the shape of objects in the value.
    """

    name: str
    path: str = ""
    shape: JsonShape | None = None
    value: Callable[[Any, Any], Any] | None = None
    type: Any = None

    def of(self, item: Any, edge: JsonEdge) -> Any:
        """Return the value of this key for an item, in JSON types."""
        found = self._at(item) if self.value is None else self.value(item, edge)
        return self._plain(found, edge)

    @functools.cached_property
    def _steps(self) -> list[str]:
        return (self.path or self.name).split(".")

    def _at(self, item: Any) -> Any:
        for name in self._steps:
            if item is None:
                return None
            item = getattr(item, name)
        return item

    def _plain(self, value: Any, edge: JsonEdge) -> Any:
        if isinstance(value, str):
            return edge.text(self.name, value)
        if isinstance(value, (list, tuple)):
            return [self._plain(item, edge) for item in value]
        if isinstance(value, Mapping):
            return {key: self._plain(item, edge) for key, item in value.items()}
        if self.shape is not None and value is not None:
            return self.shape.object(value, edge)
        return edge.place(value) if isinstance(value, Span) else value


@dataclass(frozen=True)
class JsonShape:
    """The keys of JSON objects that are made from items of one type.

    ``name`` is the name of the objects' type in the client.
    """

    of: type[Any]
    keys: tuple[JsonKey, ...]
    name: str = ""

    def object(self, item: Any, edge: JsonEdge = PLAIN) -> dict[str, Any]:
        """Return the JSON object of an item."""
        values = ((key.name, key.of(item, edge)) for key in self.keys)
        return {edge.key(name): value for name, value in values if edge.leaves(value)}

    def with_keys(self, *more: str | JsonKey) -> JsonShape:
        """Return a shape with these keys added."""
        return JsonShape(self.of, (*self.keys, *map(_key, more)), self.name)

    def annotation(self, key: JsonKey) -> Any:
        """Return the type of a key's value; types of items stand for their JSON objects."""
        return key.type if key.value is not None else _annotation(self.of, key.path or key.name)


def shape(of: type[Any], *keys: str | JsonKey, name: str = "") -> JsonShape:
    """Make a shape; ``"row=span.row"`` is a name and a path, ``"row"`` is both in one."""
    return JsonShape(of, tuple(map(_key, keys)), name)


def whole(of: type[Any], *but: str, name: str = "") -> JsonShape:
    """Make a shape with all fields of a dataclass, except fields named in ``but``."""
    return shape(of, *(field.name for field in fields(of) if field.name not in but), name=name)


def members(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union; for any other type, the type itself."""
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if is_union else (annotation,)


def replaced(annotation: Any, put: Callable[[Any], Any]) -> Any:
    """Return an annotation in which each type is replaced by ``put(type)``.

    Sequences become lists.
    """
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None or origin is Literal:
        return put(annotation)
    inner = [replaced(item, put) for item in arguments if item is not Ellipsis]
    if members(annotation)[1:]:
        return functools.reduce(operator.or_, inner)
    if origin is tuple and Ellipsis in arguments:
        return list[inner[0]]  # type: ignore[valid-type]
    return origin[tuple(inner)]


def _key(key: str | JsonKey) -> JsonKey:
    if isinstance(key, JsonKey):
        return key
    name, _, path = key.partition("=")
    return JsonKey(name, path)


def _annotation(of: Any, path: str) -> Any:
    is_optional = False
    for name in path.split("."):
        if types.NoneType in members(of):
            (of,) = (item for item in members(of) if item is not types.NoneType)
            is_optional = True
        found = inspect.getattr_static(of, name, None)
        function = getattr(found, "fget", None) or getattr(found, "func", None)  # a (cached) property
        of = typing.get_type_hints(function)["return"] if function else typing.get_type_hints(of)[name]
    return of | None if is_optional else of
