"""The client's capabilities beyond LSP, which it declares as ``experimental``."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer


def experimental_capability(server: LanguageServer, name: str) -> Any:
    """Return a member of the client's ``experimental`` capabilities, or ``None``."""
    return member(server.client_capabilities.experimental, name)


def client_command(server: LanguageServer, name: str, title: str, *arguments: Any) -> types.Command | None:
    """Make a command that the client executes; ``None`` if the client lacks it.

    A client lists its commands in ``experimental.commands.commands``, as clients do for rust-analyzer.
    """
    names = member(experimental_capability(server, "commands"), "commands")
    return types.Command(title, name, arguments=list(arguments)) if name in (names or ()) else None


def member(value: Any, name: str) -> Any:
    """Return a member of an object that LSP does not define.

    pygls turns such objects into named tuples.
    """
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
