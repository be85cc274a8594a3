"""The tools for agents: diffs as agents write them, and the same tools in VS Code."""

from __future__ import annotations

import asyncio
import builtins
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner
from fullgraph_server.agents.calls import Engine
from fullgraph_server.agents.patching import PatchError, edits, parse
from fullgraph_server.agents.tools import TOOLS
from fullgraph_server.cli import main
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.proof import Prover
from fullgraph_server.runs.plan import Plan
from fullgraph_server.workspace.source import SourceFile

ROOT = Path(__file__).parents[2]
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
        ("", "This is no unified diff"),
        ("--- a/model.py\n+++ b/model.py\n", "This is no unified diff"),
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


async def test_a_search_that_is_cancelled_while_it_ends_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    closing, plan = asyncio.Event(), cast("Plan", None)

    async def close(_prover: Prover) -> None:
        closing.set()
        await asyncio.Event().wait()

    async def search(_prover: Prover) -> None:
        assert os.listdir(tmp_path)

    monkeypatch.setattr(Prover, "close", close)
    engine = Engine()
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
