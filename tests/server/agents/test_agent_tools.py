"""The tools for agents: diffs as agents write them, and the same tools in VS Code."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import difflib
import json
import os
import random
import runpy
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner
from fullgraph_compiler.facts import Script
from fullgraph_server.agents import editing, patching
from fullgraph_server.agents.patching import PatchError, edits, parse
from fullgraph_server.agents.tool_calls import AgentRuns, ToolCall, ToolError, refusal_text, refuse_odd
from fullgraph_server.agents.tools import TOOLS
from fullgraph_server.cli import main
from fullgraph_server.cli.mcp import _plan
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.prover import EditProver
from fullgraph_server.runs.effective_settings import SettingOverrides
from fullgraph_server.runs.plan import RunPlan
from fullgraph_server.workspace.launch.configurations import launch_target
from fullgraph_server.workspace.source import SourceFile

ROOT = Path(__file__).parents[3]
TEXT = """\
def f(x):
    y = x + 1

    return y


def g(x):
    y = x + 1

    return y.sin()
"""


HEAD = "--- a/model.py\n+++ b/model.py\n"


def patched(diff: str, text: str = TEXT) -> str:
    ((path, hunks),) = parse(diff).items()
    source = SourceFile(path, text)
    return edited(source, edits(source, path, hunks))


@pytest.mark.parametrize(
    ("diff", "expected"),
    [
        (
            "@@ -7,4 +7,4 @@\n def g(x):\n-    y = x + 1\n+    y = x + 2\n \n",
            "y = x + 2\n\n    return y.sin()",
        ),
        # Counts and rows that are wrong, and blank lines without the blank.
        ("@@ -3,9 +1,2 @@\n def g(x):\n-    y = x + 1\n+    y = x + 2\n\n     return y.sin()\n\n", "+ 2"),
        # No rows at all, where the lines are unique.
        ("@@\n-    return y.sin()\n+    return y.cos()", "return y.cos()\n"),
        # Of equal places the nearest to the row.
        ("@@ -8 +8 @@\n-    y = x + 1\n+    y = x + 3\n", "def g(x):\n    y = x + 3\n"),
        ("@@ -2 +2 @@\n-    y = x + 1\n+    y = x + 3\n", "def f(x):\n    y = x + 3\n"),
        ("@@ -10 +10 @@\n     return y.sin()\n+\n+\n+h = g\n", "return y.sin()\n\n\nh = g\n"),
        ("@@ -1 +1 @@\n+import torch\n", "import torch\n"),
        # As in a chat: between lines that are none of the diff.
        ("@@ -10 +10 @@\n-    return y.sin()\n+    return y.cos()\n```\nIt is faster.\n", "return y.cos()\n"),
    ],
)
def test_a_diff_is_applied_where_its_lines_stand(diff: str, expected: str) -> None:
    text = patched(HEAD + diff)
    assert expected in text
    assert len(text.splitlines()) >= len(TEXT.splitlines())


def test_line_ends_and_a_missing_last_one_stay() -> None:
    diff = "--- model.py\n+++ model.py\n@@\n-    y = 1\n+    y = 2\n"
    assert patched(diff, "def f():\r\n    y = 1\r\n    return y") == "def f():\r\n    y = 2\r\n    return y"


@pytest.mark.parametrize(
    ("diff", "why"),
    [
        ("", "Not a unified diff"),
        ("--- a/model.py\n+++ b/model.py\n", "Not a unified diff"),
        ("--- a/model.py\n+++ /dev/null\n@@\n-x\n", "Files cannot be added or removed"),
        (
            "--- a/model.py\n+++ b/model.py\n@@ -1 +1 @@\n-def k(x):\n+def h(x):\n",
            "at line 1 that begins with",
        ),
        (
            "--- a/model.py\n+++ b/model.py\n@@\n-    y = x + 1\n+    y = x\n",
            "'y = x . 1' fits 2 places",
        ),
        ("--- a/model.py\n+++ b/model.py\n@@\n+import torch\n", "'import torch' fits 11 places of model.py"),
        ("--- a/model.py\n+++ b/model.py\n@@\n-    z = 1\n", "has no lines like those of the hunk that"),
        (
            "--- a/model.py\n+++ b/model.py\n@@ -1 +1 @@\n def f(x):\n",
            "The diff changes nothing in model.py.",
        ),
    ],
)
def test_a_diff_that_does_not_apply_says_so(diff: str, why: str) -> None:
    with pytest.raises(PatchError, match=why):
        patched(diff)


@pytest.mark.parametrize("most", [0, 4, 40_000])
def test_an_applied_diff_makes_the_text_that_it_was_made_for(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patching, "_MOST_COMPARED", most)
    chance = random.Random(most)
    applied = 0
    for _ in range(500):
        before = [chance.choice(["a", "b", "c", "", "  x"]) for _ in range(chance.randrange(1, 14))]
        after = list(before)
        for _ in range(chance.randrange(1, 4)):
            start = chance.randrange(len(after) + 1)
            after[start : start + chance.randrange(3)] = chance.choices("abcde", k=chance.randrange(3))
        end = chance.choice(["\n", ""]) if before[-1] else "\n"
        diff = difflib.unified_diff(before, after, "a/m", "b/m", lineterm="", n=chance.randrange(1, 4))
        with contextlib.suppress(PatchError):  # nothing changed, or a hunk without lines around it
            told = patched("\n".join(diff), "\n".join(before) + end)
            assert after in (told.splitlines(), told.split("\n"))
            applied += 1
    assert applied > 300


@pytest.mark.parametrize(
    ("diff", "text", "why"),
    [
        ("@@ -1 +1 @@\n" + "-x\n+y\n" * 1_000_000, TEXT, "more than 10,000 lines: try it in parts."),
        ("@@ -1 +1 @@\n-x\n+y\n" * 501, TEXT, "more than 500 hunks: try it in parts."),
        ("@@ -1 +1 @@\n-x\n+y\n" * 500, "x\n" * 5_000, "too many hunks for a file as long as model.py"),
    ],
)
def test_a_diff_that_nobody_writes_is_refused(diff: str, text: str, why: str) -> None:
    with pytest.raises(PatchError, match=why):
        patched(HEAD + diff, text)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"diff": "x" * 500_001}, "diff has 500,001 characters: shorten it to 500,000 at most."),
        ({"target": "x" * 10_001}, "target has 10,001 characters: shorten it to 10,000 at most."),
        ({"finding": ["x"]}, "finding must be a string."),
        ({"offset": -1}, "offset must be a number from 0 to 9,999."),
        ({"offset": True}, "offset must be a number from 0 to 9,999."),
    ],
)
def test_arguments_that_no_tool_needs_are_refused(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(ToolError, match=f"^{why}$"):
        refuse_odd(arguments)


# -- what may run ------------------------------------------------------------------------------


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace below a project, with an environment in it, and links that lead out."""
    folder = tmp_path / "project" / "workspace"
    targets = "".join(
        f"[[tool.fullgraph.targets]]\nname = '{name}'\n{program}\n"
        for name, program in {
            "standard": "module = 'timeit'",
            "elsewhere": "module = 'train'\ncwd = '..'",
            "tool": "console-script = 'pip'",
            "above": "script = '../train.py'",
            "own": "module = 'package.train'",
            "test": "pytest = '../test_a.py::test'",
        }.items()
    )
    for path, text in {
        "pyproject.toml": targets,
        "timeit.py": "",
        "package/train.py": "",
        ".venv/pyvenv.cfg": "",
        ".venv/lib/python3.12/site-packages/pip/__main__.py": "",
        "logs/a.log": "",
        "../train.py": "",
        "../test_a.py": "",
        "../outside/train.py": "",
        "../outside/b.log": "",
        "../pyproject.toml": "[[tool.fullgraph.targets]]\nname = 'parent'\nmodule = 'train'\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "linked").symlink_to(folder.parent / "outside")
    (folder / "logs/b.log").symlink_to(folder.parent / "outside" / "b.log")
    return folder


def call(*folders: Path) -> ToolCall:
    return ToolCall(
        AgentRuns(), folders, partial(_plan, SettingOverrides(folders[0]), folders), lambda _: None
    )


@pytest.mark.parametrize(
    "name",
    [
        "-m http.server",
        "-m pip -- install x",
        "-m pytest -- -p x",
        "-m unittest",
        "-m torch.distributed.run -- a.py",
        "-m  timeit",
        "-m package",
        "-m linked.train",
        "-m os",
        "-m package.train.deeper",
        "-mtimeit",
        "-c pass",
        "../train.py",
        "linked/train.py",
        "elsewhere",
        "tool",
        "above",
        "test",
        "parent",
        "pytest:../test_a.py::test",
        "pytest:linked/train.py::test",
        ".venv/lib/python3.12/site-packages/pip/__main__.py -- install x",
        "trace:../outside",
        "trace:linked",
        "trace:logs",
        "trace:https://us3r:ssw0rd@host/a.log?s1gn",
        "https://us3r:ssw0rd@host/a.py?s1gn",
        "-m https://us3r:ssw0rd@host/a",
        "file:///etc/passwd",
    ],
)
async def test_what_is_outside_of_the_workspace_is_refused(name: str, workspace: Path) -> None:
    with pytest.raises(ToolError) as error:
        await call(workspace).plan(name)
    told = refusal_text(error.value, {"target": name})
    assert not any(secret in told for secret in ("us3r", "ssw0rd", "s1gn"))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("-m timeit -- -n1", "timeit.py"),
        ("-m package.train", "package/train.py"),
        ("standard", "timeit.py"),
        ("own", "package/train.py"),
    ],
)
async def test_a_module_of_the_workspace_is_pinned_to_its_file(name: str, file: str, workspace: Path) -> None:
    plan = await call(workspace).plan(name)
    assert isinstance(plan.target.program, Script)
    assert plan.target.program.pinned
    assert plan.target.program.filename == plan.target.filename == str(workspace / file)


async def test_a_launch_configuration_of_another_place_is_refused(workspace: Path) -> None:
    """As in VS Code, where these are targets, too."""
    configurations: list[dict[str, str]] = [
        {"name": "0", "module": "http.server"},
        {"name": "1", "module": "train", "cwd": ".."},
        {"name": "2", "program": "../train.py"},
        {"name": "3", "module": "package.train"},
    ]
    common = {"type": "debugpy", "request": "launch"}
    (workspace / ".vscode").mkdir()
    launch = json.dumps({"configurations": [{**common, **item} for item in configurations]})
    (workspace / ".vscode" / "launch.json").write_text(launch)
    plan = await call(workspace).plan("own")

    async def planned(name: str) -> RunPlan:
        return replace(plan, target=launch_target(workspace, name))

    tools = ToolCall(AgentRuns(), (workspace,), planned, lambda _: None)
    for name in "012":
        with pytest.raises(ToolError):
            await tools.plan(name)
    assert (await tools.plan("3")).target.filename == str(workspace / "package" / "train.py")


async def test_a_file_that_takes_long_to_parse_is_not_edited(workspace: Path) -> None:
    (workspace / "timeit.py").write_text("x = 1\n" * 170_000)
    diff = "--- a/timeit.py\n+++ b/timeit.py\n@@ -1 +1 @@\n-x = 1\n+y = 1\n"
    with pytest.raises(ToolError, match=r"timeit.py has more than 1,000,000 characters"):
        await editing.try_edit(call(workspace), "timeit.py", diff)


async def test_other_calls_are_answered_while_a_diff_is_applied(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    applying, others = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(*_: object) -> None:
        loop.call_soon_threadsafe(applying.set)
        assert others.wait(60), "the event loop is free"
        raise PatchError("It does not apply.")

    monkeypatch.setattr(editing, "_fix", slow)
    diff = "--- a/timeit.py\n+++ b/timeit.py\n@@ -1 +1 @@\n-x\n+y\n"
    trying = asyncio.ensure_future(editing.try_edit(call(workspace), "timeit.py", diff))
    await applying.wait()
    with pytest.raises(ToolError, match="was not run yet"):
        call(workspace).last("timeit.py")
    others.set()
    with pytest.raises(ToolError, match="It does not apply"):
        await trying


async def test_a_search_that_is_cancelled_while_it_ends_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    closing, plan = asyncio.Event(), cast("RunPlan", None)

    async def close(_prover: EditProver) -> None:
        closing.set()
        await asyncio.Event().wait()

    async def search(_prover: EditProver) -> None:
        assert os.listdir(tmp_path)

    monkeypatch.setattr(EditProver, "close", close)
    engine = AgentRuns()
    call = asyncio.ensure_future(engine.prove(plan, lambda _message: None, search))
    await closing.wait()
    await engine.close()
    assert call.cancelled()
    assert not os.listdir(tmp_path)


def test_vs_code_has_the_same_tools() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "tools.py"))
    text = script["written"]()
    assert text == (ROOT / "package.json").read_text(encoding="utf-8"), "run `python scripts/tools.py`"
    assert all(f'"fullgraph_{name}"' in text for name in TOOLS)


def test_nothing_but_the_server_for_agents_needs_the_extra() -> None:
    modules = "fullgraph_server.server, fullgraph_server.cli.app, fullgraph_server.cli.check"
    check = f"import sys, {modules}; sys.exit(bool({{'mcp', 'pydantic'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "mcp":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(name, *args, **options)

    monkeypatch.delitem(sys.modules, "fullgraph_server.cli.mcp", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    result = CliRunner().invoke(main, ["mcp"])
    assert (result.exit_code, result.output) == (
        1,
        "Error: fullgraph mcp needs the SDK of the protocol: pip install 'fullgraph[mcp]'\n",
    )
