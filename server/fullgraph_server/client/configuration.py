"""The client's settings, requested from it or sent by it at initialization."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fullgraph_compiler.facts import Files
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..runs.effective_settings import SettingOverrides
from ..workspace.setting_types import read_settings, wrong_type
from ..workspace.settings_schema import EDITOR
from .messages import show_message

_log = logging.getLogger(__name__)

_SECTION = "fullgraph"
_ANSWER_SECONDS = 5.0


RunOn: TypeAlias = Literal["manual", "save", "type"]
TryFixes: TypeAlias = Literal["asked", "short"]
RunInductor: TypeAlias = Literal["manual", "idle"]


@dataclass(frozen=True)
class EditorSettings:
    """The client's validated settings in section ``fullgraph``; ``None`` if not set."""

    interpreter: str | None = None
    active_interpreter: str | None = None
    """The interpreter that is active in the editor; used if ``interpreter`` is not set."""
    timeout: float | None = None
    """Seconds that a run may take."""
    memory: float | None = None
    """GiB that a run may use."""
    run_on: RunOn = "save"
    """When targets that have run are rerun automatically."""
    trace_paths: Mapping[str, str] = field(default_factory=dict)
    """Folders on other machines that are named in traces, mapped to the corresponding local folders."""
    preview_python: str | None = None
    """The interpreter that previews kernels if the programs' interpreter cannot."""
    files: Files | None = None
    """Whether file changes that programs make stay on disk or are discarded after the run."""
    try_fixes: TryFixes = "short"
    """Whether fixes for short programs are tried automatically, or only on request."""
    run_inductor: RunInductor = "manual"
    """Whether TorchInductor runs automatically after runs that leave it out."""

    def overrides(self, folder: Path) -> SettingOverrides:
        """Return these settings as the overrides for runs in ``folder``."""
        return SettingOverrides(
            folder,
            self.interpreter,
            self.active_interpreter,
            self.preview_python,
            self.timeout,
            self.memory,
            {"files": self.files} if self.files else {},
            self.trace_paths,
            self.run_inductor == "idle",
            self.try_fixes == "short",
        )


class SettingsReader:
    """Reader of the client's settings, which warns once about each invalid value."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._initial: Any = None
        self._shown: set[str] = set()

    def initialize(self, options: Any) -> None:
        """Store ``initializationOptions``: the settings, or an object with their section."""
        plain = _plain(options)
        self._initial = plain.get(_SECTION, plain) if isinstance(plain, dict) else plain

    async def settings(self, uri: str) -> EditorSettings:
        """Return the settings that apply to a file."""
        section = await self._ask(uri)
        return self._checked(section if section is not None else self._initial)

    async def overrides(self, uri: str, folder: Path) -> SettingOverrides:
        """Return the overrides for runs of a file in an open folder."""
        return (await self.settings(uri)).overrides(folder)

    def tell(self, message: str) -> None:
        """Show a message to the user, but only once."""
        _log.warning("%s", message)
        if message not in self._shown:
            self._shown.add(message)
            show_message(self._server, types.MessageType.Warning, message)

    async def _ask(self, uri: str) -> Any:
        workspace = self._server.client_capabilities.workspace
        if workspace is None or not workspace.configuration:
            return None
        params = types.ConfigurationParams([types.ConfigurationItem(scope_uri=uri, section=_SECTION)])
        answer = asyncio.ensure_future(self._server.workspace_configuration_async(params))
        # asyncio.wait_for would cancel the request, and pygls fails on the answer to a cancelled request.
        await asyncio.wait({answer}, timeout=_ANSWER_SECONDS)
        if not answer.done() or answer.exception() is not None:
            _log.warning("the client did not return its configuration")
            return None
        values = answer.result()
        return _plain(values[0]) if values else None

    def _checked(self, section: Any) -> EditorSettings:
        if section is None:
            return EditorSettings()
        if not isinstance(section, dict):
            self._wrong("", wrong_type("an object", section))
            return EditorSettings()
        settings = (setting for setting in EDITOR if not setting.client_only)
        return EditorSettings(**read_settings(settings, section, self._wrong))

    def _wrong(self, key: str, message: str) -> None:
        name = f"{_SECTION}.{key}" if key else _SECTION
        self.tell(f"The setting {name} {message}: it is ignored.")


def _plain(value: Any) -> Any:
    """Convert objects that pygls made from JSON back to JSON values."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
