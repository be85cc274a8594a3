"""What commands are given, checked: a wrong argument is refused with a sentence for the user."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ..workspace.targets import Target
from .targets import NoTarget, Targets


def target_argument(targets: Targets, command: str, args: tuple[Any, ...]) -> Target:
    """The target that the only argument of a command names."""
    if len(args) == 1 and isinstance(args[0], str) and args[0]:
        return named_target(targets, args[0])
    raise refusal(f"{command} takes one argument: the URI of a file, or the id of a target.")


def named_target(targets: Targets, name: str) -> Target:
    """The target of an id or a URI."""
    target = targets.find(name)
    if isinstance(target, NoTarget):
        raise refusal(target.message)
    return target


def refusal(message: str) -> JsonRpcException:
    """The answer to a request that cannot be done."""
    return JsonRpcException(message, types.LSPErrorCodes.RequestFailed.value)
