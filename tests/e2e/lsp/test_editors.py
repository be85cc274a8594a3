"""Real editors, set up as docs/editors.md says: start, run, findings, hover, a fix, stop."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from fullgraph_server.client.configuration import EditorSettings
from fullgraph_server.workspace.config import tomllib

ROOT = Path(__file__).parents[3]
EDITORS = Path(__file__).parent / "editors"
PROGRAM = """\
import torch


@torch.compile
def step(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y + 1


step(torch.ones(4))
"""
ENDLESS = """\
import os

with open("pid", "w") as file:
    file.write(str(os.getpid()))
while True:
    pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two programs, and the command ``fullgraph``."""
    for name, text in {"program.py": PROGRAM, "endless.py": ENDLESS, "pyproject.toml": ""}.items():
        (tmp_path / name).write_text(text)
    command = tmp_path / "bin" / "fullgraph"
    command.parent.mkdir()
    command.write_text(f"#!{sys.executable}\nfrom fullgraph_server.cli import main\nmain()\n")
    command.chmod(0o755)
    return tmp_path


def blocks(editor: str, language: str) -> list[str]:
    """The pieces of code that the page has for an editor."""
    page = (ROOT / "docs" / "editors.md").read_text("utf-8")
    section = page.partition(f"## {editor}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def run(project: Path, *command: str | Path) -> dict[str, Any]:
    """Run an editor with a scenario, and return what was seen in it."""
    seen = project / "seen.json"
    env = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    env |= {"PATH": f"{project / 'bin'}{os.pathsep}{env['PATH']}", "SEEN": str(seen), "HOME": str(project)}
    assert shutil.which(command[0]), f"{command[0]} is not installed"
    ran = subprocess.run(
        command, cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert seen.exists(), ran.stdout + ran.stderr
    told: dict[str, Any] = json.loads(seen.read_text())
    assert "problem" not in told, (told, ran.stdout, ran.stderr)
    return told


def check(told: dict[str, Any]) -> None:
    """Check what was seen: one finding, why, a fix that was made, and that a run could be stopped."""
    (message,) = told["messages"]
    assert "`torch._dynamo.graph_break` breaks the graph" in message
    assert "breaks the graph" in told["hover"]
    assert any(title.startswith("Fix: ") and "verified" in title for title in told["actions"])
    assert not any("graph_break" in line for line in told["fixed"])
    assert told["stopped"]


def test_neovim(project: Path) -> None:
    version = subprocess.run(["nvim", "--version"], capture_output=True, text=True, check=True).stdout
    number = re.match(r"NVIM v(\d+)\.(\d+)", version)
    assert number
    newest, older, both = blocks("Neovim", "lua")
    own = newest if (int(number[1]), int(number[2])) >= (0, 11) else older
    (project / "init.lua").write_text(own + both)
    check(run(project, "nvim", "--headless", "-u", "init.lua", "-S", EDITORS / "neovim.lua"))


def test_emacs(project: Path) -> None:
    (own,) = blocks("Emacs (Eglot)", "elisp")
    (project / "init.el").write_text(own)
    check(run(project, "emacs", "--batch", "--load", "init.el", "--load", EDITORS / "emacs.el"))


def test_the_files_for_helix_and_zed_start_the_server_with_settings_that_it_knows() -> None:
    helix = tomllib.loads((ROOT / "editors" / "helix" / "languages.toml").read_text())
    server, (python,) = helix["language-server"]["fullgraph"], helix["language"]
    assert [server["command"], *server["args"]] == ["fullgraph", "lsp"]
    assert (python["name"], python["language-servers"][-1]) == ("python", "fullgraph")

    zed = tomllib.loads((ROOT / "editors" / "zed" / "extension.toml").read_text())
    (settings,) = blocks("Zed", "json")
    told = json.loads(settings)
    assert list(zed["language_servers"]) == list(told["lsp"]) == ["fullgraph"]
    (language,) = zed["language_servers"]["fullgraph"]["languages"]
    assert "fullgraph" in told["languages"][language]["language_servers"]

    known = {field.name for field in fields(EditorSettings)}
    assert {*server["config"]["fullgraph"], *told["lsp"]["fullgraph"]["settings"]} <= known
