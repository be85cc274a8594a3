"""Faults injected into the functions of a run: each function can fail once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, TypeAlias

from fullgraph_server.report import fold
from fullgraph_server.runs import (
    engine,
    execution,
    partial_reports,
    plan,
    program_run,
    schedule,
    slot,
    target,
)
from fullgraph_server.workers import crash, fork_server, pool, process, warm_pool, worker

Moment: TypeAlias = Literal["before", "after"]
"""Whether a call fails ahead of what it does, or once it has done it."""

_PATH = [
    schedule,
    target,
    slot,
    program_run,
    execution,
    partial_reports,
    plan,
    engine,
    fold,
    worker,
    pool,
    warm_pool,
    fork_server,
    process,
    crash,
]
"""The modules that a run goes through."""
_BOUNDARY = ("RunSchedule", "TargetRuns", "RunObservers", "RunObserver")
"""The classes that answer."""
_OF_BOUNDARY = (
    "slot.RunOptions.",
    "slot.TargetSlot.__init__",
    "slot.TargetSlot.ask",
    "slot.TargetSlot.take",
    "slot.TargetSlot.begin",
    "slot.TargetSlot.give_way",
    "slot.TargetSlot.stop",
    "slot.TargetSlot.clear",
    "slot.TargetSlot.end",
)
"""They do nothing without these, which can only keep things in attributes."""
_CALLBACKS = (
    *("fork_server.ForkServer._receive", "fork_server.ForkServer._end_forks", "process.ProcessProtocol."),
    *("program_run._FactDelivery.take", "worker.Worker._take"),
)
"""Called by the event loop and by the channel, which have nobody to answer."""
_RELEASING = (
    *(
        ".close",
        "._close",
        ".kill",
        ".kill_group",
        ".kill_marked",
        "._remove_folder",
        ".give_back",
        "._disconnect",
        "._part_with",
    ),
    "._warm",
)
"""What lets go of a process, or takes it over from the one who calls, does so before it fails."""
_MAKING = (
    *("._execute_server", "._start_server", "._start_worker", "._process", "._learn", "._warm"),
    *(".__init__", ".start", ".fork", ".take"),
)
"""What hands over a process fails before it has one: nobody else knows of it."""


@dataclass(frozen=True)
class Fault:
    """An error at the next call of one function, by its module and qualified name."""

    name: str
    moment: Moment
    error: type[BaseException] = OSError


class Injector:
    """A watcher of all calls of these functions, which makes one fail on request.

    The functions stay replaced until :meth:`remove`.
    """

    def __init__(self) -> None:
        self.called: dict[str, bool] = {}
        """The functions that were called, in that order, and whether they are awaited."""
        self.fault: Fault | None = None
        """The next one; ``None`` once it has happened."""
        self._undo: list[tuple[Any, str, Any]] = []
        for module in _PATH:
            for owner, name, function in _functions(module):
                self._replace(owner, name, function)

    def may_fail(self, moment: Moment, error: type[BaseException]) -> list[str]:
        """Return the called functions that can fail in this way.

        Only an awaited function can be cancelled.
        """
        return [
            name
            for name, awaited in self.called.items()
            if (awaited or issubclass(error, Exception))
            and not name.startswith((*_CALLBACKS, *_OF_BOUNDARY))
            and not name.endswith(_RELEASING if moment == "before" else _MAKING)
        ]

    def remove(self) -> None:
        """Put everything back in its place."""
        for owner, name, function in reversed(self._undo):
            setattr(owner, name, function)

    def _replace(self, owner: Any, name: str, raw: Any) -> None:
        wrapped: Any
        if isinstance(raw, (classmethod, staticmethod)):
            wrapped = type(raw)(self._watched(raw.__func__))
        else:
            wrapped = self._watched(raw)
        # Others have imported a function by its name.
        owners = [owner] if isinstance(owner, type) else [it for it in _PATH if vars(it).get(name) is raw]
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
                raise fault.error("the disk is full")

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


def _functions(module: ModuleType) -> Iterator[tuple[Any, str, Any]]:
    """Yield the functions of a module and the methods of its classes.

    Each has its owner: the module or the class.
    """
    for name, item in list(vars(module).items()):
        if getattr(item, "__module__", None) != module.__name__ or name in _BOUNDARY:
            continue
        if inspect.isfunction(item):
            yield module, name, item
        elif inspect.isclass(item):
            for attribute, member in list(vars(item).items()):
                plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
                # What a dataclass or a protocol has made is of no file.
                if inspect.isfunction(plain) and plain.__code__.co_filename == module.__file__:
                    yield item, attribute, member
