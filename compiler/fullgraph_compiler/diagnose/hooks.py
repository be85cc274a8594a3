"""Record the hooks that a program registers on modules and removes, with stacks."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import getattr_static
from types import CodeType
from typing import Any, Final

import torch

from ..facts import Stack
from ..observe.stacks import calling_stack
from .followed import is_followed

_METHODS: Final = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
)


@dataclass(frozen=True, slots=True)
class HookChange:
    """The registration or removal of a hook.

    ``calls`` is the number of calls of compiled functions before this change.
    """

    calls: int
    stack: Stack


class HookRegistry:
    """The registrations and removals of hooks of all modules, by the hook's code.

    ``calls`` returns the number of calls of compiled functions so far.
    """

    def __init__(self, calls: Callable[[], int]) -> None:
        self._calls = calls
        self._hooks: dict[CodeType, list[HookChange]] = {}
        self._removed: dict[CodeType, list[HookChange]] = {}
        self._handles: dict[int, CodeType] = {}

    def install(self) -> None:
        """Record all registrations and removals from now on."""
        for name in _METHODS:
            setattr(torch.nn.Module, name, self._noting(getattr(torch.nn.Module, name)))
        handle: Any = torch.utils.hooks.RemovableHandle
        handle.remove = self._noting_removal(handle.remove)

    def registered(self, code: CodeType) -> list[HookChange]:
        """Return the registrations of a function as a hook, in order."""
        return self._hooks.get(code, [])

    def removed(self, code: CodeType) -> list[HookChange]:
        """Return the removals of a function as a hook, in order."""
        return self._removed.get(code, [])

    def _noting(self, register: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(register)
        def register_and_note(module: torch.nn.Module, hook: Any, *args: Any, **kwargs: Any) -> Any:
            handle = register(module, hook, *args, **kwargs)
            code = _code(hook)
            if code is not None:
                self._handles[handle.id] = code
                self._note(self._hooks, code)
            return handle

        return register_and_note

    def _noting_removal(self, remove: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(remove)
        def remove_and_note(handle: Any) -> Any:
            code = self._handles.pop(handle.id, None)
            if code is not None:
                self._note(self._removed, code)
            return remove(handle)

        return remove_and_note

    def _note(self, changes: dict[CodeType, list[HookChange]], code: CodeType) -> None:
        own = tuple(frame for frame in calling_stack(sys._getframe(2)) if is_followed(frame.filename))
        changes.setdefault(code, []).append(HookChange(self._calls(), own))


def _code(hook: Any) -> CodeType | None:
    """Return the code that a call of a hook runs; ``None`` if it is not Python code."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    call = getattr_static(type(hook), "__call__", None)
    code = getattr(hook, "__code__", None) or getattr(call, "__code__", None)
    return code if isinstance(code, CodeType) else None
