"""Checks of the arguments of commands.

A wrong argument raises an error whose message is a sentence for the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullgraph_compiler.facts import DEVICES
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from ..text.urls import without_secrets
from ..workspace.targets import Target
from .capabilities import member
from .targets import NoTargetReason, TargetRegistry


def target_argument(targets: TargetRegistry, command: str, args: tuple[Any, ...]) -> Target:
    """Return the target that a command's only argument names.

    Raises :class:`JsonRpcException` if there is no such argument or target.
    """
    if len(args) == 1 and isinstance(args[0], str) and args[0]:
        return named_target(targets, args[0])
    raise misuse(f"{command} takes one argument: the URI of a file, or the id of a target.")


def run_arguments(
    targets: TargetRegistry, command: str, args: tuple[Any, ...]
) -> tuple[Target, Mapping[str, Any]]:
    """Return the target of a command and the switches of its ``DryRunOptions``.

    Raises :class:`JsonRpcException` if the arguments are not valid.
    """
    target = target_argument(targets, command, args[:1])
    options = args[1] if len(args) == 2 else None
    dry, device = member(options, "dryRun"), member(options, "device")
    if len(args) > 2 or isinstance(options, (str, int, float, list)) or not isinstance(dry or False, bool):
        raise misuse(f"{command} takes a target, and optionally {{dryRun: boolean, device: string}}.")
    if device is not None and not (isinstance(device, str) and device in DEVICES):
        raise refusal(f"Kernels cannot be previewed for {device!r}: choose one of {', '.join(DEVICES)}.")
    given = {"dry_run": dry, "device": device}
    return target, {name: value for name, value in given.items() if value}


def named_target(targets: TargetRegistry, name: str) -> Target:
    """Return the target of an id or a URI.

    Raises :class:`JsonRpcException` if there is no such target.
    """
    target = targets.find(name)
    if isinstance(target, NoTargetReason):
        raise refusal(target.message)
    return target


def misuse(message: str) -> JsonRpcException:
    """Make the error for arguments whose number or form the command does not take."""
    return JsonRpcInvalidParams(message)


def refusal(message: str) -> JsonRpcException:
    """Make the error that refuses a request; ``message`` is a sentence for the user."""
    return JsonRpcException(without_secrets(message), types.LSPErrorCodes.RequestFailed.value)
