"""A JSON object as a table of keys.

Objects are made with the table; ``scripts/json_schema.py`` makes the published JSON Schemas of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Key:
    """A key of an object.

    Its value is at ``path``, the names of attributes with dots between them; without one, ``name`` is that of
    the attribute. Or ``value`` computes it, and ``type`` is its type. ``shape`` is that of objects in it.
    """

    name: str
    path: str = ""
    shape: Shape | None = None
    value: Callable[[Any], Any] | None = None
    type: Any = None

    def of(self, item: Any) -> Any:
        """Return the value of an item, in types of JSON."""
        found = self.value(item) if self.value is not None else _at(item, self.path or self.name)
        return _plain(found, self.shape)


@dataclass(frozen=True)
class Shape:
    """The keys of the JSON objects that are made of items of one type."""

    of: type[Any]
    keys: tuple[Key, ...]

    def object(self, item: Any) -> dict[str, Any]:
        """Return the object of an item."""
        return {key.name: key.of(item) for key in self.keys}

    def with_keys(self, *more: str | Key) -> Shape:
        """Return a shape that has more keys."""
        return Shape(self.of, (*self.keys, *map(_key, more)))


def shape(of: type[Any], *keys: str | Key) -> Shape:
    """Make a shape; ``"row=span.row"`` is a key and its path, ``"row"`` both at once."""
    return Shape(of, tuple(map(_key, keys)))


def whole(of: type[Any], *but: str) -> Shape:
    """Make the shape that has all fields of a dataclass, but for those that are named."""
    return shape(of, *(field.name for field in fields(of) if field.name not in but))


def _key(key: str | Key) -> Key:
    if isinstance(key, Key):
        return key
    name, _, path = key.partition("=")
    return Key(name, path)


def _at(item: Any, path: str) -> Any:
    for name in path.split("."):
        if item is None:
            return None
        item = getattr(item, name)
    return item


def _plain(value: Any, of: Shape | None) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item, of) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item, of) for key, item in value.items()}
    return value if of is None or value is None else of.object(value)
