"""Record a call of a compiled function, to repeat it in another process."""

from __future__ import annotations

import io
import pickle
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..cases.definitions import definitions
from ..cases.reading import UnreadableError
from ..compat import dynamo_compat
from ..facts import Stack, StackFrame
from ..observe import overlay
from ..observe.modules import own_modules

_CALLS = frozenset({"__call__", "_call_impl", "_wrapped_call_impl"})


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call, with the part of the program that the call needs.

    ``callee`` is a Python expression for the called function: a name in ``preamble``, ``owner``, or an
    attribute of ``owner``. ``arguments`` is the pickle of ``(owner, args, kwargs)``; ``modules`` are the
    program's own modules to which this pickle refers. ``is_compiled`` says whether the definition of
    ``callee`` already compiles the function; if it does not, ``options`` are the options to pass to
    ``torch.compile``.
    """

    callee: str
    arguments: bytes
    modules: tuple[str, ...]
    preamble: tuple[str, ...]
    is_compiled: bool
    options: dict[str, Any]
    place: Stack
    """The location of the first line of the function."""


def record_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], options: dict[str, Any]
) -> RecordedCall:
    """Record a call of a function that was passed to ``torch.compile``.

    ``options`` are the options of ``torch.compile``. Raises :class:`UnreadableError` if the function is not
    at the top level of a file, or if an argument cannot be pickled.
    """
    modules = own_modules()
    names = {module.__name__ for module in modules.values()} | {"__main__"}
    owner = getattr(function, "__self__", None)
    if owner is None:
        callee, target = _named(function, modules)
        wanted = {callee.partition(".")[0]}
    else:
        name = function.__name__
        callee, target = ("owner", owner) if name in _CALLS else (f"owner.{name}", getattr(owner, name))
        wanted = set()
    pickler = _CallPickler(names)
    arguments = pickler.dumps((owner, args, kwargs))
    texts = {name: overlay.read(name).decode("utf-8", "replace") for name in modules}
    return RecordedCall(
        callee=callee,
        arguments=arguments,
        modules=tuple(sorted(pickler.used - {"__main__"})),
        preamble=definitions(texts, wanted | pickler.wanted),
        is_compiled=dynamo_compat.is_compiled(target),
        options={name: value for name, value in options.items() if value},
        place=_place(function),
    )


def _named(function: Callable[..., Any], modules: dict[str, types.ModuleType]) -> tuple[str, Any]:
    """Return a function's qualified name in its file, and the object with this name.

    Raises :class:`UnreadableError` if none of the program's own modules has such a name.
    """
    name = getattr(function, "__qualname__", "<object>")
    for module in modules.values():
        target: Any = module if module.__name__ == function.__module__ else None
        for part in name.split("."):
            target = getattr(target, part, None)
        if target is not None:
            return name, target
    raise UnreadableError(f"{name} is not at the top level of one of the program's own files")


def _place(function: Any) -> Stack:
    if (owner := getattr(function, "__self__", None)) is not None and function.__name__ in _CALLS:
        function = getattr(type(owner), "forward", function)
    code = getattr(function, "__code__", None)
    return (StackFrame(code.co_filename, code.co_firstlineno, code.co_name),) if code else ()


class _CallPickler:
    """A pickler that notes which classes and functions of the program a pickle needs."""

    def __init__(self, own: set[str]) -> None:
        self.used: set[str] = set()
        """The names of the modules that define the noted classes and functions."""
        self.wanted: set[str] = set()
        """The top-level names of the noted classes and functions."""
        self._own = own

    def dumps(self, value: Any) -> bytes:
        """Return the pickle of a value.

        Raises :class:`UnreadableError` if the value cannot be pickled.
        """
        noted = self._note

        class NotingPickler(pickle.Pickler):
            def reducer_override(self, item: Any) -> Any:
                noted(item)
                return NotImplemented

        buffer = io.BytesIO()
        try:
            NotingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
        except Exception as error:
            raise UnreadableError(f"its arguments cannot be pickled: {error}") from error
        return buffer.getvalue()

    def _note(self, item: Any) -> None:
        if not isinstance(item, (type, types.FunctionType)):
            item = type(item)
        if item.__module__ in self._own:
            self.used.add(item.__module__)
            self.wanted.add(item.__qualname__.partition(".")[0])
