"""The server over real stdio: finding the stage at fault, minifying, reporting, debugging.

The interpreter is a script that starts a worker which plays scenarios, so that each moment of a run
can be held on to.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import pytest_asyncio
import pytest_lsp
from lsp_session import CAPABILITIES, CONFIG, Editor, uri_of
from lsprotocol import types
from processes import dies
from pygls.exceptions import JsonRpcException

FAKE = Path(__file__).parents[2] / "server" / "support" / "fake_worker.py"

PROGRAM = """\
def f(x):
    return x.relu()
"""
SHOWING = types.WindowClientCapabilities(
    work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
)
SCENARIOS = (
    "fails",
    "fails-in-capture",
    "out-of-memory",
    "shrink",
    "nothing-fails",
    "crash-at-once",
    "hang",
    "segfault",
    "finish",
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def session(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    await open_workspace(lsp_client, tmp_path_factory.mktemp("shared"), CAPABILITIES)
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="module")
async def editor(session: Editor) -> AsyncIterator[Editor]:
    """One session for many tests: each leaves it as it has found it."""
    yield session
    await session.command("fullgraph.clear")
    session.close_all()
    shutil.rmtree(session.folder / ".fullgraph", ignore_errors=True)
    for told in (session.messages, session.published, session.progress_reports):
        told.clear()


@pytest_lsp.fixture(config=CONFIG, loop_scope="module")
async def lone_editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    """Its server is nobody else's."""
    await open_workspace(lsp_client, tmp_path, CAPABILITIES)
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG, loop_scope="module")
async def showing_editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    """It can show documents."""
    await open_workspace(lsp_client, tmp_path, attrs.evolve(CAPABILITIES, window=SHOWING))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG, loop_scope="module")
async def own_editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    """It can show documents, and opens repros in its own way."""
    own = {"commands": {"commands": ["fullgraph.openRepro"]}}
    await open_workspace(lsp_client, tmp_path, attrs.evolve(CAPABILITIES, window=SHOWING, experimental=own))
    yield
    await lsp_client.shutdown_session()


async def open_workspace(lsp_client: Editor, tmp_path: Path, capabilities: types.ClientCapabilities) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    python = tmp_path / "python"
    # The worker plays; anything else is run by the interpreter of the tests.
    python.write_text(
        f'#!/bin/sh\ncase "$1" in */worker/main.py) shift; exec "{sys.executable}" "{FAKE}" "$@";; esac\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    program = folder / "program.py"
    program.write_text(PROGRAM)
    scenarios = {name: [name, str(program)] for name in SCENARIOS}
    scenarios["shrink-for-ever"] = ["shrink-for-ever", str(gate)]
    (folder / "pyproject.toml").write_text(
        "[tool.fullgraph]\ntargets = [\n"
        + "".join(
            f'  {{ name = "{name}", script = "program.py", args = {args} }},\n'
            for name, args in scenarios.items()
        )
        + '  { name = "module", module = "package.program", args = ["--n", "1"] },\n'
        + "]\n"
    )
    # The worker plays no proofs.
    lsp_client.set_configuration({"fullgraph": {"interpreter": str(python), "tryFixes": "asked"}})
    lsp_client.folder, lsp_client.program, lsp_client.gate = folder, program, gate
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities,
            workspace_folders=[types.WorkspaceFolder(uri_of(folder), folder.name)],
        )
    )


def repros(editor: Editor) -> list[str]:
    return sorted(path.name for path in (editor.folder / ".fullgraph" / "repros").glob("*"))


def shown(editor: Editor) -> list[str]:
    """The messages that the user got."""
    return [message.message for message in editor.messages]


async def fixes(editor: Editor) -> dict[str, types.Command]:
    """The quick fixes on the first finding in the program."""
    diagnostics = editor.shown(uri_of(editor.program)).diagnostics
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(uri_of(editor.program)),
        diagnostics[0].range,
        types.CodeActionContext(diagnostics[:1]),
    )
    actions = await editor.text_document_code_action_async(params) or []
    return {action.title: action.command for action in actions}


async def test_a_compile_error_can_be_minified_from_its_fix_and_its_lens(editor: Editor) -> None:
    uri = editor.open(editor.program)
    await editor.command("fullgraph.run", "fails")
    found = await fixes(editor)
    assert list(found) == [
        "Minify this failure",
        "Which stage is at fault?",
        "Show the full explanation of compile-error",
    ]
    minify, stages = found["Minify this failure"], found["Which stage is at fault?"]
    assert (minify.command, stages.command) == ("fullgraph.minify", "fullgraph.stages")
    assert minify.arguments == ("fails", {"fault": 0, "compileId": "0/0"})
    assert stages.arguments == ("fails",)
    lenses = [lens for lens in await editor.lenses(uri) if lens[2] == "fullgraph.minify"]
    assert lenses == [(0, "Minify this failure", "fullgraph.minify")]
    report = await editor.ask("fullgraph/report", target="fails")
    assert report["findings"][0]["minify"] == {"fault": 0, "compileId": "0/0"}


async def test_an_edited_line_keeps_its_fixes(editor: Editor) -> None:
    uri = editor.open(editor.program)
    await editor.command("fullgraph.run", "fails")
    version = editor.edit(uri, PROGRAM.replace("relu", "silu"))
    await editor.until(lambda: editor.shown(uri).version == version)
    assert "edited since the run" in editor.shown(uri).diagnostics[0].message
    assert "Minify this failure" in await fixes(editor)


async def test_a_crash_may_be_anybodys(editor: Editor) -> None:
    await editor.command("fullgraph.run", "segfault")
    assert list(await fixes(editor)) == [
        "Which stage is at fault?",
        "Try workarounds for a crash",
        "Show the full explanation of target-error",
    ]
    await editor.command("fullgraph.run", "finish")
    await editor.command("fullgraph.clear", "segfault")
    assert list(await fixes(editor)) == ["Show the full explanation of target-error"]


async def test_what_fails_to_be_captured_gets_a_repro_too(editor: Editor) -> None:
    uri = editor.open(editor.program)
    await editor.command("fullgraph.run", "fails-in-capture")
    write = (await fixes(editor))["Write a repro of this failure"]
    assert (write.command, write.arguments[0]) == ("fullgraph.minify", "fails-in-capture")
    assert (0, "Write a repro of this failure", "fullgraph.minify") in await editor.lenses(uri)
    summary = await editor.command("fullgraph.minify", *write.arguments)
    assert (
        summary["message"] == "program-1.py: the call that goes wrong in Dynamo, in `f`; still fails when run"
    )


async def test_recipes_say_what_helps_for_want_of_memory(editor: Editor) -> None:
    await editor.command("fullgraph.run", "out-of-memory")
    fix = (await fixes(editor))["Try workarounds for a crash"]
    assert (fix.command, fix.arguments) == ("fullgraph.recipes", ("out-of-memory",))
    summary = await editor.command("fullgraph.recipes", "out-of-memory")
    assert summary == {
        "target": "out-of-memory",
        "status": "finished",
        "findings": 2,
        "compiled": False,
        "layer": "recipes",
    }
    assert shown(editor) == ["The program gets through with dynamic shapes off."]
    (layer,) = await editor.ask("fullgraph/layers", target="out-of-memory")
    found = layer["report"]["findings"]
    uri = next(item["explanation"] for item in found if item["severity"] == "error")
    params = types.TextDocumentContentParams(uri)
    text = (await editor.workspace_text_document_content_async(params)).text
    assert "## What was tried\n\n```text\nunmodified " in text
    assert "OutOfMemoryError: no more" in text


async def test_stages_answers_with_a_verdict(editor: Editor) -> None:
    summary = await editor.command("fullgraph.stages", "fails")
    assert (summary["target"], summary["status"], summary["findings"]) == ("fails", "finished", 1)
    assert shown(editor) == ["backend failed: boom"]
    await editor.command("fullgraph.stages", "finish")
    assert shown(editor)[1:] == ["No stage is at fault: no graph was captured."]
    with pytest.raises(JsonRpcException, match="takes one argument"):
        await editor.command("fullgraph.stages")


async def test_minifying_writes_a_repro_and_tells(editor: Editor) -> None:
    await editor.command("fullgraph.run", "shrink")
    summary = await editor.command("fullgraph.minify", "shrink", {"fault": 2, "compileId": "0/1"})
    repro = editor.folder / ".fullgraph" / "repros" / "program-1.py"
    message = "program-1.py: 1 of 14 nodes, 41 queries, 8.0 s; still fails when run"
    assert summary == {
        "target": "shrink",
        "status": "finished",
        "nodes": 1,
        "nodesAtFirst": 14,
        "queries": 41,
        "seconds": 8.0,
        "reproduces": True,
        "message": message,
        "repro": uri_of(repro),
    }
    assert repro.read_text().startswith("# failure 2, graph '0/1', ")
    assert (editor.folder / ".fullgraph" / ".gitignore").read_text() == "*\n"
    assert shown(editor) == [message]
    assert editor.shown_documents == [], "this client did not say that it can show one"
    await editor.command("fullgraph.minify", "shrink")
    assert repros(editor) == ["program-1.py", "program-2.py"]


async def test_the_client_reads_an_explanation_again_after_each_change(editor: Editor) -> None:
    uri = editor.open(editor.program)
    await editor.command("fullgraph.run", "fails")
    (diagnostic,) = editor.shown(uri).diagnostics
    page = diagnostic.data["explanation"]
    params = types.TextDocumentContentParams(page)
    before = (await editor.workspace_text_document_content_async(params)).text
    editor.to_read_again.clear()
    await editor.command("fullgraph.clear", "fails")
    await editor.until(lambda: editor.to_read_again)
    assert editor.to_read_again == [page]
    after = (await editor.workspace_text_document_content_async(params)).text
    assert after == f"**The target of this finding no longer has a result.**\n\nIt was:\n\n---\n\n{before}"


async def test_what_minifying_made_stands_on_the_line_of_the_failure(editor: Editor) -> None:
    uri = editor.open(editor.program)
    await editor.command("fullgraph.run", "fails-in-capture")
    (before,) = editor.shown(uri).diagnostics
    summary = await editor.command("fullgraph.minify", "fails-in-capture", before.data["minify"])
    told = f"Minified to {summary['message']}."
    (after,) = editor.shown(uri).diagnostics
    assert (after.range, after.code) == (before.range, before.code)
    assert after.message.splitlines()[0] == before.message.splitlines()[0]
    assert f"help: {told}" in after.message
    (layer,) = await editor.ask("fullgraph/layers", target="fails-in-capture")
    assert (layer["label"], layer["verdict"]) == ("Minified failure", told)


async def test_where_nothing_fails_no_file_is_left(editor: Editor) -> None:
    summary = await editor.command("fullgraph.minify", "nothing-fails")
    assert (summary["message"], summary["nodes"], "repro" in summary) == ("Nothing fails.", 0, False)
    summary = await editor.command("fullgraph.minify", "crash-at-once")
    assert summary["status"] == "crashed"
    assert "SIGSEGV" in summary["message"]
    assert repros(editor) == []


async def test_cancelling_keeps_the_best_repro_so_far(editor: Editor) -> None:
    minifying = await minifying_for_ever(editor)
    with pytest.raises(JsonRpcException, match="Another failure is being minified"):
        await editor.command("fullgraph.minify", "shrink")
    token = next(iter(editor.progress_reports))
    await editor.until(lambda: len(editor.progress_reports[token]) > 1)
    report = editor.progress_reports[token][-1]
    assert report.message == "minifying: 12 of 300 nodes left, 41 queries, 8 s"
    editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    summary = await asyncio.wait_for(minifying, 60)
    assert summary["status"] == "cancelled"
    assert summary["message"] == (
        "Stopped: program-1.py is the smallest repro so far: 12 of 300 nodes, 41 queries, 8.0 s"
    )
    assert repros(editor) == ["program-1.py"]
    await editor.until(lambda: editor.progress_reports[token][-1].kind == "end")


async def test_the_stop_command_stops_a_minification(editor: Editor) -> None:
    minifying = await minifying_for_ever(editor)
    await editor.command("fullgraph.stop", "shrink")
    assert not minifying.done(), "that is another target"
    await editor.command("fullgraph.stop", "shrink-for-ever")
    assert (await asyncio.wait_for(minifying, 60))["status"] == "cancelled"


async def test_no_minification_outlives_the_server(lone_editor: Editor) -> None:
    editor = lone_editor
    minifying = await minifying_for_ever(editor)
    pid = int((editor.folder / ".fullgraph" / "repros" / "program-1.py").read_text().split()[-1])
    await asyncio.wait_for(editor.shutdown_async(None), 60)
    assert await asyncio.to_thread(dies, pid)
    editor.exit(None)
    await asyncio.wait_for(editor._server.wait(), 60)
    await asyncio.gather(minifying, return_exceptions=True)
    editor.capabilities = None  # the session is over already


async def minifying_for_ever(editor: Editor) -> asyncio.Task[Any]:
    """A minification that has a repro by now, and will not end."""
    minifying = editor.begin("fullgraph.minify", "shrink-for-ever")
    await asyncio.wait_for(asyncio.to_thread(editor.gate.write_text, ""), 60)
    return minifying


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "takes the URI of a file"),
        ((7,), "takes the URI of a file"),
        (("shrink", {"fault": "one"}), "takes the URI of a file"),
        (("shrink", {}, {}), "takes the URI of a file"),
        (("gone",), "There is no target gone"),
    ],
)
async def test_wrong_arguments_are_refused(editor: Editor, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(JsonRpcException, match=message):
        await editor.command("fullgraph.minify", *arguments)


# -- bug reports -------------------------------------------------------------------------------


async def test_a_bug_report_holds_the_repro_and_what_it_prints(editor: Editor) -> None:
    await editor.command("fullgraph.minify", "shrink")
    repro = editor.folder / ".fullgraph" / "repros" / "program-1.py"
    repro.write_text("# It fails.\n#\n# More.\nimport sys\n\nprint('```boom', *sys.argv[1:])\nsys.exit(3)\n")
    for name in ("shrink", uri_of(repro)):
        answer = await editor.ask("fullgraph/bugReport", target=name)
        assert answer["holds"].startswith("The bug report holds code of your program and its inputs")
        report = answer["text"]
        head, _, rest = report.partition("### Error logs")
        logs, _, versions = rest.partition("### Versions")
        assert head.startswith("### 🐛 Describe the bug\n\nIt fails.\n\n````python\n")
        assert repro.read_text() in head
        assert logs.strip() == "````text\n```boom --raise\n(it ended with exit code 3)\n````"
        assert "- Interpreter: " in versions


async def test_without_a_repro_the_program_is_reported(editor: Editor) -> None:
    answer = await editor.ask("fullgraph/bugReport", target="fails")
    assert answer == {"problem": "fails has no failure to report: analyze it first."}
    await editor.command("fullgraph.run", "fails")
    answer = await editor.ask("fullgraph/bugReport", target="fails")
    assert answer["holds"].startswith("The bug report holds the text of program.py, the error log and paths")
    report = answer["text"]
    assert "backend failed: boom" in report
    assert PROGRAM in report
    answer = await editor.ask("fullgraph/bugReport", target="gone")
    assert answer == {"problem": "There is no target gone."}


# -- debugging ---------------------------------------------------------------------------------


async def configuration(editor: Editor, target: str, uncompiled: bool = False) -> dict[str, Any]:
    params = {"target": target, "uncompiled": uncompiled}
    return (await editor.ask("fullgraph/debugConfiguration", **params))["configuration"]


async def test_a_script_is_debugged_as_it_runs(editor: Editor) -> None:
    found = await configuration(editor, "finish")
    folder = editor.folder / ".fullgraph" / "inductor"
    assert found == {
        "name": "Fullgraph: finish",
        "type": "debugpy",
        "request": "launch",
        "program": str(editor.program),
        "args": ["finish", str(editor.program)],
        "cwd": str(editor.folder),
        "env": {"TORCHINDUCTOR_CACHE_DIR": str(folder), "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        "python": str(editor.folder.parent / "python"),
        "justMyCode": False,
        "subProcess": False,
        "console": "integratedTerminal",
    }
    uncompiled = await configuration(editor, "finish", uncompiled=True)
    assert uncompiled["env"] == {**found["env"], "TORCH_COMPILE_DISABLE": "1"}
    await editor.command("fullgraph.minify", "shrink")
    repro = folder.parent / "repros" / "program-1.py"
    found = await configuration(editor, uri_of(repro))
    assert (found["program"], found["args"]) == (str(repro), ["--raise", "--child"])
    assert await editor.ask("fullgraph/debugConfiguration", target="gone") == {
        "problem": "There is no target gone."
    }


async def test_a_module_is_debugged_by_its_name(editor: Editor) -> None:
    found = await configuration(editor, "module")
    assert "program" not in found
    assert (found["module"], found["args"]) == ("package.program", ["--n", "1"])
    (listed,) = [item for item in await editor.ask("fullgraph/targets") if item["id"] == "module"]
    file = uri_of(editor.folder / "package" / "program.py")
    assert (listed["kind"], listed["uri"], listed["configured"]) == ("module", file, True)


async def test_nothing_is_made_outside_of_the_workspace_for_the_debugger(editor: Editor) -> None:
    other = editor.folder.parent / "other"
    other.mkdir()
    (other / "pyproject.toml").touch()
    (other / "a.py").write_text("print(1)\n")
    found = await configuration(editor, str(other / "a.py"))
    assert found["env"]["TORCHINDUCTOR_CACHE_DIR"] == str(editor.folder / ".fullgraph" / "inductor")
    assert sorted(path.name for path in other.iterdir()) == ["a.py", "pyproject.toml"]


async def test_a_link_in_the_place_of_the_own_folder_is_not_followed(editor: Editor) -> None:
    elsewhere = editor.folder.parent / "elsewhere"
    elsewhere.mkdir()
    link = editor.folder / ".fullgraph"
    link.symlink_to(elsewhere)
    try:
        found = await configuration(editor, "finish")
        assert "TORCHINDUCTOR_CACHE_DIR" not in found["env"]
        told = f"for one run only: {link} is a symbolic link, which is not followed: put a folder there."
        assert [message.message for message in editor.messages if told in message.message]
        with pytest.raises(JsonRpcException, match="is a symbolic link, which is not followed"):
            await editor.command("fullgraph.minify", "shrink")
    finally:
        link.unlink()
    assert not any(elsewhere.iterdir())


@pytest.mark.slow
async def test_a_test_and_example_calls_are_debugged_by_what_runs_them(editor: Editor) -> None:
    test = editor.folder / "test_it.py"
    test.write_text("# fullgraph: g(2)\ndef g(x):\n    print('twice', x * 2)\n\ndef test_g():\n    g(1)\n")
    found = await configuration(editor, "pytest:test_it.py::test_g")
    assert (found["module"], found["args"]) == ("pytest", ["-s", f"{test}::test_g"])
    found = await configuration(editor, f"{test}::g")
    process = await asyncio.create_subprocess_exec(
        sys.executable, found["program"], *found["args"], stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), 120)
    assert output.splitlines() == [b"twice 4"]


# -- a client that can show documents ----------------------------------------------------------


async def test_a_repro_is_shown(showing_editor: Editor) -> None:
    summary = await showing_editor.command("fullgraph.minify", "shrink")
    assert [params.uri for params in showing_editor.shown_documents] == [summary["repro"]]
    await showing_editor.command("fullgraph.minify", "nothing-fails")
    assert len(showing_editor.shown_documents) == 1


async def test_a_client_that_opens_repros_itself_is_left_to_it(own_editor: Editor) -> None:
    assert "repro" in await own_editor.command("fullgraph.minify", "shrink")
    assert own_editor.shown_documents == []
