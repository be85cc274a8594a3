"""The base classes of facts and values, and their conversion to JSON and back."""

from __future__ import annotations

from typing import Any

_TAG = "type"
"""The key under which a JSON object has its class name."""
CLASSES: dict[str, type[Any]] = {}
_FIELDS: dict[type[Any], tuple[str, ...]] = {}


class Value:
    """The base of frozen dataclasses with slots that have a JSON form.

    These are requests, facts, and their parts.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Register a class under its name, which must be unique."""
        # With slots, `dataclass` creates a second class from the first; only the second has fields here.
        own_fields = vars(cls).get("__dataclass_fields__")
        if own_fields is None:
            return
        if cls.__name__ in CLASSES:
            raise TypeError(f"two classes of this vocabulary are called {cls.__name__}")
        CLASSES[cls.__name__] = cls
        _FIELDS[cls] = tuple(own_fields)


class Fact(Value):
    """The base of the observations of a run; a worker sends each fact immediately."""

    __slots__ = ()


class Result(Fact):
    """The base of facts that only the analysis that made them reads.

    A report stores such facts unchanged.
    """

    __slots__ = ()


def to_json(value: Any) -> Any:
    """Convert a value of this package to JSON values.

    Every JSON object contains the name of its class.
    """
    if type(value) in _FIELDS:
        return {name: to_json(item) for name, item in as_object(value).items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value


def as_object(value: Any) -> dict[str, Any]:
    """Convert only a dataclass's top level; for use as ``default`` of ``json.dumps``.

    Raise ``TypeError`` for a value of a class that this package does not define.
    """
    cls = type(value)
    names = _FIELDS.get(cls)
    if names is None:
        raise TypeError(f"{cls.__name__} is not of this vocabulary")
    result: dict[str, Any] = {_TAG: cls.__name__}
    for name in names:
        result[name] = getattr(value, name)
    return result


def from_json(value: Any) -> Any:
    """Rebuild a value from the output of :func:`to_json`; arrays become tuples.

    Raise ``ValueError`` for an object whose class name this package does not define.
    """
    if isinstance(value, dict):
        cls = CLASSES.get(value.get(_TAG, ""))
        if cls is None:
            raise ValueError(f"not a value of this vocabulary: {value.get(_TAG)!r}")
        return cls(**{name: from_json(item) for name, item in value.items() if name != _TAG})
    if isinstance(value, (list, tuple)):
        return tuple(from_json(item) for item in value)
    return value
