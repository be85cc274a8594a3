"""Faults put into functions of modules from outside: each can be made to fail at its next call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, TypeAlias

Moment: TypeAlias = Literal["before", "after"]
"""Whether a call fails ahead of what it does, or once it has done it."""


@dataclass(frozen=True)
class Fault:
    """An error at a call of one function, by its module and qualified name."""

    name: str
    moment: Moment
    error: Callable[[], BaseException]


class Injector:
    """Watches the calls of all functions of some modules, and makes one fail when it is asked to.

    A class that is named by ``skip`` is left as it is. What it has replaced stays replaced: for use in a
    process of its own, or with :meth:`remove`.
    """

    def __init__(self, modules: Sequence[ModuleType], skip: frozenset[str] = frozenset()) -> None:
        self.called: dict[str, bool] = {}
        """The functions that were called, in that order, and whether they are awaited."""
        self.fault: Fault | None = None
        """The next one; ``None`` once it has happened."""
        self._undo: list[tuple[Any, str, Any]] = []
        for module in modules:
            for owner, name, function in _functions(module, skip):
                self._replace(modules, owner, name, function)

    def remove(self) -> None:
        """Put everything back in its place."""
        for owner, name, function in reversed(self._undo):
            setattr(owner, name, function)

    def _replace(self, modules: Sequence[ModuleType], owner: Any, name: str, raw: Any) -> None:
        wrapped: Any
        if isinstance(raw, (classmethod, staticmethod)):
            wrapped = type(raw)(self._watched(raw.__func__))
        else:
            wrapped = self._watched(raw)
        # Others have imported a function by its name.
        owners = [owner] if isinstance(owner, type) else [it for it in modules if vars(it).get(name) is raw]
        for place in owners:
            self._undo.append((place, name, raw))
            setattr(place, name, wrapped)

    def _watched(self, function: Any) -> Any:
        name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        is_coroutine = inspect.iscoroutinefunction(function)

        def at(moment: Moment) -> None:
            if moment == "before":
                self.called.setdefault(name, is_coroutine)
            fault = self.fault
            if fault is not None and (fault.name, fault.moment) == (name, moment):
                self.fault = None
                raise fault.error()

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            at("before")
            result = function(*args, **kwargs)
            at("after")
            return result

        @functools.wraps(function)
        async def wait(*args: Any, **kwargs: Any) -> Any:
            at("before")
            result = await function(*args, **kwargs)
            at("after")
            return result

        return wait if is_coroutine else call


def _functions(module: ModuleType, skip: frozenset[str]) -> Iterator[tuple[Any, str, Any]]:
    """The functions that a module defines, and the methods of its classes, with who has them."""
    for name, item in list(vars(module).items()):
        if getattr(item, "__module__", None) != module.__name__ or name in skip:
            continue
        if inspect.isfunction(item):
            yield module, name, item
        elif inspect.isclass(item):
            for attribute, member in list(vars(item).items()):
                plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
                # What a dataclass or a protocol has made is of no file.
                if inspect.isfunction(plain) and plain.__code__.co_filename == module.__file__:
                    yield item, attribute, member
