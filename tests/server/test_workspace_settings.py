"""Settings: their values in an editor are checked, and what is written of them agrees with the schema."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from fullgraph_server.client.configuration import Configuration, Settings
from pygls.lsp.server import LanguageServer


class Client:
    """An editor that cannot be asked for its configuration, and what it was shown."""

    def __init__(self) -> None:
        self.client_capabilities = SimpleNamespace(workspace=None)
        self.shown: list[str] = []

    def window_show_message(self, params: Any) -> None:
        self.shown.append(params.message)


async def settings_of(section: Any) -> tuple[Settings, list[str]]:
    """What the server makes of a section, and what it tells the user."""
    client = Client()
    configuration = Configuration(cast(LanguageServer, client))
    configuration.initialize({"fullgraph": section})
    return await configuration.settings("file:///w/a.py"), client.shown


@pytest.mark.parametrize(
    ("section", "settings"),
    [
        (None, Settings()),
        ({}, Settings()),
        ({"graphMarks": "no", "trace": 1}, Settings()),
        (
            {
                "interpreter": "/python",
                "activeInterpreter": ["/active"],
                "timeout": 2,
                "memory": 1.5,
                "runOn": "type",
                "tracePaths": {"/there": ""},
                "previewPython": "/preview",
                "files": "keep",
            },
            Settings("/python", "/active", 2.0, 1.5, "type", {"/there": ""}, "/preview", "keep"),
        ),
        (dict.fromkeys(("interpreter", "timeout", "memory", "runOn", "tracePaths", "files")), Settings()),
        ({"interpreter": "", "activeInterpreter": [], "previewPython": [""]}, Settings()),
    ],
)
async def test_what_an_editor_has_set(section: Any, settings: Settings) -> None:
    assert await settings_of(section) == (settings, [])


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (3, "fullgraph must be an object, not 3"),
        (
            {"interpreter": ["a", "b"]},
            "fullgraph.interpreter must be the path of a Python, or a list with one, not ['a', 'b']",
        ),
        (
            {"previewPython": [3]},
            "fullgraph.previewPython must be the path of a Python, or a list with one, not 3",
        ),
        ({"timeout": "long"}, "fullgraph.timeout must be a number of seconds above 0, not 'long'"),
        ({"timeout": True}, "fullgraph.timeout must be a number of seconds above 0, not True"),
        ({"memory": 0}, "fullgraph.memory must be a number of GiB above 0, not 0"),
        ({"runOn": "never"}, "fullgraph.runOn must be manual, save or type, not 'never'"),
        ({"runOn": ["save"]}, "fullgraph.runOn must be manual, save or type, not ['save']"),
        ({"files": "burn"}, "fullgraph.files must be keep or discard, not 'burn'"),
        ({"tracePaths": "x"}, "fullgraph.tracePaths must be an object of folders, not 'x'"),
        (
            {"tracePaths": {"/a": "b", "/c": 1}},
            "fullgraph.tracePaths must be an object of folders, not {'/a': 'b', '/c': 1}",
        ),
    ],
)
async def test_a_wrong_value_in_an_editor_is_told_in_one_sentence(section: Any, message: str) -> None:
    assert await settings_of(section) == (Settings(), [f"The setting {message}: it is ignored."])
