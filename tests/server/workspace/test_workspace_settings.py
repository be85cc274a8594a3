"""Settings: their values in an editor are checked, and what is written of them agrees with the schema."""

from __future__ import annotations

import json
import runpy
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fullgraph_compiler.facts import Switches
from fullgraph_server.client.configuration import EditorSettings, SettingsReader
from fullgraph_server.workspace.config import ProjectConfig, TargetConfig
from fullgraph_server.workspace.setting_types import Setting
from fullgraph_server.workspace.settings_schema import EDITOR, PROGRAMS, PROJECT, SWITCHES, TARGET
from pygls.lsp.server import LanguageServer

ROOT = Path(__file__).parents[3]


class Client:
    """An editor that cannot be asked for its configuration, and what it was shown."""

    def __init__(self) -> None:
        self.client_capabilities = SimpleNamespace(workspace=None)
        self.shown: list[str] = []

    def window_show_message(self, params: Any) -> None:
        self.shown.append(params.message)


async def settings_of(section: Any) -> tuple[EditorSettings, list[str]]:
    """What the server makes of a section, and what it tells the user."""
    client = Client()
    configuration = SettingsReader(cast(LanguageServer, client))
    configuration.initialize({"fullgraph": section})
    return await configuration.settings("file:///w/a.py"), client.shown


@pytest.mark.parametrize(
    ("section", "settings"),
    [
        (None, EditorSettings()),
        ({}, EditorSettings()),
        ({"graphMarks": "no", "trace": 1}, EditorSettings()),
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
            EditorSettings("/python", "/active", 2.0, 1.5, "type", {"/there": ""}, "/preview", "keep"),
        ),
        (
            dict.fromkeys(("interpreter", "timeout", "memory", "runOn", "tracePaths", "files")),
            EditorSettings(),
        ),
        ({"interpreter": "", "activeInterpreter": [], "previewPython": [""]}, EditorSettings()),
    ],
)
async def test_what_an_editor_has_set(section: Any, settings: EditorSettings) -> None:
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
    assert await settings_of(section) == (EditorSettings(), [f"The setting {message}: it is ignored."])


@pytest.mark.parametrize("name", ["package.json", "package.nls.json", "docs/configuration.md"])
def test_what_is_written_of_the_settings_is_up_to_date(name: str) -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "settings.py"))["written"]()
    assert (ROOT / name).read_text(encoding="utf-8") == written[ROOT / name], (
        "run `python scripts/settings.py`"
    )


@pytest.mark.parametrize(
    ("settings", "read_into", "others"),
    [
        ([setting for setting in EDITOR if not setting.client_only], EditorSettings, set()),
        (PROJECT, ProjectConfig, {"root", "switches", "problems", "console_scripts"}),
        (
            [setting for setting in TARGET if setting.key not in PROGRAMS],
            TargetConfig,
            {"kind", "program", "switches"},
        ),
        (SWITCHES, Switches, {"variants"}),  # only `fullgraph speed --try` sets it
    ],
    ids=["editor", "project", "target", "switches"],
)
def test_settings_are_attributes_with_the_same_defaults(
    settings: list[Setting], read_into: Any, others: set[str]
) -> None:
    defaults = {field.name: field.default for field in fields(read_into)}
    assert {setting.attribute for setting in settings} | others == set(defaults)
    for setting in settings:
        if setting.default not in (None, "", {}):
            assert defaults[setting.attribute] == setting.default, setting.key


def test_vscode_has_a_text_for_each_setting() -> None:
    texts = json.loads((ROOT / "package.nls.json").read_text(encoding="utf-8"))
    manifest = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    configuration = json.dumps(manifest["contributes"]["configuration"])
    named = {name for name in texts if f'"%{name}%"' in configuration}
    assert named == {"displayName"} | {name for name in texts if name.startswith("configuration.")}
    assert configuration.count('"%configuration.') == len(named) - 1, "a text that is not there"
