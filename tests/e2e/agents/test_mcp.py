"""``fullgraph mcp`` with the official client: from a finding to a proven edit; refusals; cancelled calls."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import mcp_client
import pytest
from hanging import hanging
from mcp_client import answer, connected, refusal
from mcp_types import ListRootsResult, Root
from processes import dies, marked, outliving

PROGRAM = """\
import torch


@torch.compile
def f(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@torch.compile
def g(x):
    return x.sin()


print(f(torch.ones(3)), g(torch.ones(3)))
"""
DIFF = """\
--- a/model.py
+++ b/model.py
@@ -5,7 +5,4 @@
 def f(x):
-    if x.sum() > 0:
-        y = x * 2
-    else:
-        y = x - 1
+    y = torch.where(x.sum() > 0, x * 2, x - 1)
     return y
"""
BREAK = "model.py:6:8:GB0170"
TOOLS = [
    "check_target",
    "explain_finding",
    "list_fixes",
    "try_edit",
    "find_recompiles",
    "show_kernels",
    "compare_runs",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with a program."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "pyproject.toml").write_text("")
    (workspace / "model.py").write_text(PROGRAM)
    return workspace


async def test_from_a_finding_to_a_proven_edit(folder: Path) -> None:
    async with connected(folder) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        assert all(tool.output_schema and tool.description for tool in tools)

        told: list[str] = []

        async def progress(_done: float, _total: float | None, message: str | None) -> None:
            told.append(message or "")

        result = await client.call_tool("check_target", {"target": "model.py"}, progress_callback=progress)
        checked = result.structured_content
        assert isinstance(checked, dict)
        assert "running model.py" in told
        assert [(item["finding"], item["fixable"]) for item in checked["findings"]] == [(BREAK, True)]
        assert checked["counts"] == {"graphs": 3, "breaks": 1, "recompilations": 0}

        explained = await answer(client, "explain_finding", target="model.py", finding=BREAK)
        assert "> 6     if x.sum() > 0:" in explained["source"]
        assert explained["edits"][0] == "Choose with `torch.where`"

        fixes = await answer(client, "list_fixes", target="model.py", finding=BREAK)
        (fixed,) = fixes["fixes"]
        assert fixed["verified"]
        assert "+    y = torch.where(x.sum() > 0, x * 2, x - 1)" in fixed["diff"]

        tried = await answer(client, "try_edit", target="model.py", diff=fixed["diff"], finding=BREAK)
        assert (tried["verified"], tried["gone"], tried["left"]) == (True, [BREAK], [])
        helper = DIFF.replace("torch.where", "choose") + "@@\n import torch\n+choose = torch.where\n"
        assert (await answer(client, "try_edit", target="model.py", diff=helper))["verified"]
        wrong = await answer(client, "try_edit", target="model.py", diff=DIFF.replace("x - 1)", "x - 2)"))
        assert not wrong["verified"]
        assert "do something else" in wrong["verdict"]
        uncompiled = DIFF + "@@\n-@torch.compile\n def g(x):\n"
        less = await answer(client, "try_edit", target="model.py", diff=uncompiled)
        assert (less["verified"], less["gone"]) == (False, [BREAK])
        assert "1 calls of compiled functions, before 2" in less["verdict"]
        assert (folder / "model.py").read_text() == PROGRAM

        (folder / "model.py").write_text(PROGRAM.replace("@torch.compile\ndef g", "def g"))
        compared = await answer(client, "compare_runs", before="model.py")
        (functions,) = (item for item in compared["counts"] if item["name"] == "functions")
        assert functions["before"] - functions["after"] == 1


async def test_what_is_refused_says_what_to_do_and_runs_nothing(folder: Path) -> None:
    outside = folder.parent / "outside.py"
    outside.write_text("open('ran', 'w')")
    (folder / "link.py").symlink_to(outside)
    async with connected(folder) as client:
        for name in ("../outside.py", str(outside), "link.py", "pytest:../outside.py::test", "trace:../log"):
            assert "is outside of the workspace" in await refusal(client, "check_target", target=name), name
        assert await refusal(client, "check_target", target="none.py") == "none.py does not exist"
        for name in ("-m timeit -- -n1 \"open('ran', 'w')\"", "-m http.server", "-m pip"):
            assert "is not a module of the workspace" in await refusal(client, "check_target", target=name)
        # What cannot be imported beside a module of Python itself does not run either.
        (folder / "json").mkdir()
        (folder / "json" / "tool.py").write_text("")
        shadowed = await answer(client, "check_target", target="-m json.tool -- --help")
        assert shadowed["status"] == "not-started"
        assert "imports the module json from " in shadowed["findings"][0]["message"]
        assert "is not a path" in await refusal(client, "check_target", target="a\0.py")
        for tool, arguments in (
            ("explain_finding", {"finding": BREAK}),
            ("check_target", {"offset": 20}),
        ):
            text = await refusal(client, tool, target="model.py", **arguments)
            assert text == "model.py was not run yet: call check_target first."
        for diff, why in (
            ("Change it.", "Not a unified diff"),
            (
                DIFF.replace("x * 2", "x * 3"),
                "The diff does not apply: model.py has no lines like those of the",
            ),
            (DIFF.replace("model.py", "../outside.py"), "is outside of the workspace"),
            (DIFF + "+x\n" * 2_000_000, "characters: shorten it to 500,000 at most."),
            (DIFF.replace("--- a/model.py", "--- /dev/null"), "Files cannot be added or removed"),
            (
                DIFF.replace("+    y = torch", "+    y == = torch"),
                "With the diff, model.py is not valid Python",
            ),
            (
                DIFF.replace("y = torch", f"y = {'-' * 200_000}torch"),
                "not valid Python: it is nested too deeply.",
            ),
        ):
            assert why in await refusal(client, "try_edit", target="model.py", diff=diff)
    assert not [*folder.parent.rglob("ran")]


@pytest.mark.slow
async def test_a_notebook_is_told_by_its_cells(folder: Path) -> None:
    first, _, call = PROGRAM.rpartition("\n\n")
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in (first, call)]
    notebook = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    (folder / "model.ipynb").write_text(notebook)
    async with connected(folder) as client:
        checked = await answer(client, "check_target", target="model.ipynb")
        (found,) = checked["findings"]
        assert found["finding"] == "model.ipynb:cell 1:6:8:GB0170"
        place = {"target": "model.ipynb", "finding": found["finding"]}
        explained = await answer(client, "explain_finding", **place)
        assert "> cell 1:6     if x.sum() > 0:" in explained["source"]
        assert "model.ipynb:cell 2:1 in <module>" in explained["called_from"]
        assert (await answer(client, "try_edit", diff=DIFF.replace(".py", ".ipynb"), **place))["verified"]
    assert (folder / "model.ipynb").read_text() == notebook


@pytest.mark.slow
async def test_an_edit_may_be_of_a_file_that_nothing_is_compiled_of(folder: Path) -> None:
    (folder / "settings.py").write_text("CHECKS = True\n")
    body = "x += 1\n    if settings.CHECKS:\n        torch._dynamo.graph_break()\n    return x * 2\n"
    compiled = f"@torch.compile(backend='eager')\ndef f(x):\n    {body}"
    (folder / "main.py").write_text(f"import settings, torch\n{compiled}f(torch.ones(2))\n")
    diff = "--- a/settings.py\n+++ b/settings.py\n@@\n-CHECKS = True\n+CHECKS = False\n"
    async with connected(folder) as client:
        tried = await answer(client, "try_edit", target="main.py", diff=diff)
        assert (tried["verified"], tried["gone"]) == (True, ["main.py:6:9:GB0025"])
        why = await refusal(client, "try_edit", target="model.py", diff=diff)
        assert why == "The edit cannot be judged: settings.py is not imported by model.py"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_workspace_is_what_the_client_opens(folder: Path, mode: str) -> None:
    async def roots(_context: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=folder.as_uri())])

    outside = folder.parent / "outside.py"
    outside.write_text("")
    async with connected(folder.parent, list_roots_callback=roots, mode=mode) as client:
        assert "is outside of" in await refusal(client, "check_target", target=str(outside))
        assert await refusal(client, "check_target", target="none.py") == "none.py does not exist"


async def test_several_calls_are_on_at_once_and_a_cancelled_one_ends_its_program(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "one.py").write_text("assert open('pipe').read() == 'hello'")
    (folder / "other.py").write_text("open('pipe', 'w').write('hello')")
    started = hanging(folder)
    async with connected(folder) as client:

        async def check(name: str) -> str:
            told = await answer(client, "check_target", target=name)
            return str(told["status"])

        endless = asyncio.ensure_future(check("hanging.py"))
        program = await asyncio.to_thread(started)
        assert await asyncio.gather(check("one.py"), check("other.py")) == ["finished", "finished"]
        endless.cancel()
        assert await asyncio.to_thread(dies, program)
        assert await check("model.py") == "finished"


@pytest.mark.parametrize("end", ["client", pytest.param("server", marks=pytest.mark.slow)])
def test_nothing_runs_when_a_client_or_the_server_goes_away(folder: Path, end: str) -> None:
    mark = f"FULLGRAPH_TEST={uuid4()}"
    started = hanging(folder)
    client = subprocess.Popen([sys.executable, mcp_client.__file__, str(folder), "hanging.py", mark])
    try:
        program = started()
        running = marked(mark)
        assert program in running
        if end == "client":
            client.kill()
        else:
            os.kill(min(running), signal.SIGTERM)
        assert outliving(running) == []
    finally:
        client.kill()
        client.wait()
