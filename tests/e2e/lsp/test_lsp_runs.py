"""The server over real stdio: runs over time, and everything that can be wrong with a request.

The interpreter is a script that starts a worker which plays scenarios, so that each moment of a run
can be held on to.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor, uri_of
from lsprotocol import types
from processes import dies
from pygls.exceptions import JsonRpcException

FAKE = Path(__file__).parents[2] / "server" / "support" / "fake_worker.py"


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor, tmp_path: Path) -> AsyncIterator[None]:
    folder = tmp_path / "workspace"
    folder.mkdir()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" $2\n')
    python.chmod(0o755)
    gates = [tmp_path / "gate 0", tmp_path / "gate 1"]
    for gate in gates:
        os.mkfifo(gate)
    (folder / "program.py").write_text("first_text\n")
    (folder / "other.py").write_text("other = 1\n")
    scenarios = {name: [name] for name in ("source", "hang", "fork-and-hang", "segfault")}
    scenarios["print"] = ["print", "3"]
    scenarios["gates"] = ["gates", *(str(gate) for gate in gates)]
    (folder / "pyproject.toml").write_text(
        "[tool.fullgraph]\ntargets = [\n"
        + "".join(
            f'  {{ name = "{name}", script = "program.py", args = {args} }},\n'
            for name, args in scenarios.items()
        )
        + "]\n"
    )
    # The worker plays no proofs.
    lsp_client.set_configuration({"fullgraph": {"interpreter": str(python), "tryFixes": "asked"}})
    lsp_client.program = folder / "program.py"
    lsp_client.gates = gates
    await lsp_client.open_folder(folder)
    yield
    await lsp_client.shutdown_session()


def messages(editor: Editor) -> list[str]:
    """What the client shows at the program."""
    shown = [params for params in editor.published if params.uri == uri_of(editor.program)]
    return [item.message for item in shown[-1].diagnostics] if shown else []


def states(editor: Editor) -> list[str | None]:
    return [getattr(params, "state", None) for params in editor.statuses]


RUN = ["queued", "running", "finished"]


async def open_gate(gate: Path) -> None:
    """Let a run go on, as soon as it has come to the gate."""
    await asyncio.wait_for(asyncio.to_thread(gate.write_text, ""), 60)


def begin(editor: Editor, target: str) -> asyncio.Task[Any]:
    return editor.begin("fullgraph.run", target)


async def targets(editor: Editor) -> dict[str, Any]:
    """The targets by label."""
    items = await editor.protocol.send_request_async("fullgraph/targets", {})
    return {item["label"]: item for item in items}


# -- runs over time ----------------------------------------------------------------------------


async def test_progress_shows_a_run_and_can_cancel_it(editor: Editor) -> None:
    run = begin(editor, "hang")
    await editor.until(lambda: messages(editor) == ["before"])
    await editor.until(lambda: any(editor.progress_reports.values()))
    ((token, reports),) = editor.progress_reports.items()
    assert isinstance(reports[0], types.WorkDoneProgressBegin)
    assert reports[0].cancellable
    assert reports[0].message == "running hang"
    editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    assert await run == {"target": "hang", "status": "cancelled", "findings": 1, "compiled": False}
    assert isinstance(editor.progress_reports[token][-1], types.WorkDoneProgressEnd)
    assert messages(editor) == ["before"], "what was seen stays"
    assert states(editor) == ["queued", "running", "cancelled"]


async def test_what_a_program_prints_is_told_with_its_target_and_run(editor: Editor) -> None:
    for _ in range(2):
        await begin(editor, "print")
    await editor.until(lambda: sum(len(params.text) for params in editor.printed) >= 6)
    runs: dict[int, str] = {}
    for params in editor.printed:
        assert (params.target, params.label) == ("print", "print")
        runs[params.generation] = runs.get(params.generation, "") + params.text
    assert runs == {1: "xxx", 2: "xxx"}


async def test_the_server_answers_while_a_run_is_on(editor: Editor) -> None:
    run = begin(editor, "hang")
    await editor.until(lambda: messages(editor) == ["before"])
    assert await editor.hover(uri_of(editor.program), 0, 0) is None, "only finished reports are read"
    assert (await targets(editor))["hang"]["state"] == "running"
    await editor.command("fullgraph.stop", "hang")
    assert (await run)["status"] == "cancelled"
    assert "Full explanation" in (await editor.hover(uri_of(editor.program), 0, 0)).contents.value


async def test_save_runs_again_what_has_run(editor: Editor) -> None:
    uri = editor.open(editor.program)
    editor.save(uri)
    assert (await editor.command("fullgraph.run", "source"))["findings"] == 1
    assert states(editor) == RUN, "nothing runs that nobody has run"
    assert messages(editor) == ["first_text"]

    editor.program.write_text("second_text\n")
    editor.save(uri)
    await editor.until(lambda: states(editor) == RUN * 2)
    assert messages(editor) == ["second_text"]

    editor.save(editor.open(editor.program.with_name("other.py")))
    await targets(editor)
    assert states(editor) == RUN * 2, "no target depends on the other file"


async def test_a_save_with_a_syntax_error_keeps_the_results_and_runs_nothing(editor: Editor) -> None:
    uri = editor.open(editor.program)
    await editor.command("fullgraph.run", "source")
    editor.edit(uri, "first_text(\n")
    editor.program.write_text("first_text(\n")
    editor.save(uri)
    await targets(editor)
    assert states(editor).count("queued") == 1
    editor.edit(uri, "second_text\n")
    editor.program.write_text("second_text\n")
    editor.save(uri)
    await editor.until(lambda: messages(editor) == ["second_text"])
    assert states(editor).count("queued") == 2, "the save with an error ran nothing"


async def test_a_save_asks_for_the_configuration_once(editor: Editor) -> None:
    uri = editor.open(editor.program)
    await editor.command("fullgraph.run", "source")
    await editor.command("fullgraph.run", "segfault")
    for run_again in (2, 3):
        editor.asked_for_configuration.clear()
        editor.save(uri)
        await editor.until(lambda count=run_again: states(editor).count("finished") == count)
        await editor.until(lambda count=run_again: states(editor).count("crashed") == count)
        assert editor.asked_for_configuration == [uri], "for both targets"


async def test_a_command_right_after_a_save_shares_its_run(editor: Editor) -> None:
    uri = editor.open(editor.program)
    await editor.command("fullgraph.run", "source")
    editor.save(uri)
    assert (await editor.command("fullgraph.run", "source"))["status"] == "finished"
    assert states(editor) == RUN * 2


async def test_old_findings_stay_until_the_first_new_one(editor: Editor) -> None:
    run = begin(editor, "gates")
    for gate in editor.gates:
        await open_gate(gate)
    await run
    old = ["1: after gate 0", "1: after gate 1"]
    assert messages(editor) == old

    run = begin(editor, "gates")
    await editor.until(lambda: states(editor)[-1] == "running")
    assert messages(editor) == old
    await open_gate(editor.gates[0])
    await editor.until(lambda: messages(editor) != old)
    assert messages(editor) == ["2: after gate 0"], "the new one before the run is over, and no old one"
    await open_gate(editor.gates[1])
    await run
    assert messages(editor) == ["2: after gate 0", "2: after gate 1"]


async def test_one_run_is_on_and_one_waits(editor: Editor) -> None:
    runs = [begin(editor, "gates")]
    await editor.until(lambda: states(editor) == ["queued", "running"])
    runs += [begin(editor, "gates") for _ in range(3)]
    await asyncio.sleep(0)  # lets the tasks send their requests
    await targets(editor)  # requests are served in order: now the others wait
    for gate in editor.gates * 2:
        await open_gate(gate)
    summaries = await asyncio.wait_for(asyncio.gather(*runs), 60)
    assert [summary["status"] for summary in summaries] == ["finished"] * 4
    assert states(editor) == RUN * 2


async def test_a_save_ends_the_run_of_the_older_text(editor: Editor) -> None:
    uri = editor.open(editor.program)
    run = begin(editor, "gates")
    await open_gate(editor.gates[0])
    await editor.until(lambda: messages(editor) == ["1: after gate 0"])
    editor.save(uri)
    for gate in editor.gates:
        await open_gate(gate)
    assert (await run)["status"] == "finished", "who asked for the first run gets the second one's answer"
    assert messages(editor) == ["2: after gate 0", "2: after gate 1"]
    assert states(editor) == ["queued", "running", *RUN]


async def test_a_cancelled_run_that_told_nothing_leaves_the_old_findings(editor: Editor) -> None:
    first = begin(editor, "gates")
    for gate in editor.gates:
        await open_gate(gate)
    await first
    runs = [begin(editor, "gates")]
    await editor.until(lambda: states(editor)[-1] == "running")
    runs.append(begin(editor, "gates"))
    await asyncio.sleep(0)
    await targets(editor)
    await editor.command("fullgraph.stop")
    assert [(await run)["status"] for run in runs] == ["cancelled"] * 2
    assert messages(editor) == ["1: after gate 0", "1: after gate 1"]
    assert states(editor).count("running") == 2, "the run that waited did not start"


async def test_a_target_that_is_gone_is_stopped_and_cleared_all_the_same(editor: Editor) -> None:
    run = begin(editor, "hang")
    await editor.until(lambda: messages(editor) == ["before"])
    (editor.program.parent / "pyproject.toml").write_text("")
    await editor.command("fullgraph.stop", "hang")
    assert (await run)["status"] == "cancelled"
    await editor.command("fullgraph.clear", "hang")
    assert messages(editor) == []


async def test_clear_while_a_run_is_on(editor: Editor) -> None:
    run = begin(editor, "hang")
    await editor.until(lambda: messages(editor) == ["before"])
    await editor.command("fullgraph.clear")
    await run
    assert messages(editor) == []
    editor.save(uri_of(editor.program))
    assert "state" not in (await targets(editor))["hang"]
    assert states(editor) == ["queued", "running", None], "what was cleared does not run again"


async def test_two_targets_share_a_file(editor: Editor) -> None:
    await editor.command("fullgraph.run", "source")
    await editor.command("fullgraph.run", "segfault")
    assert "first_text [source]" in messages(editor)
    assert "before [segfault]" in messages(editor)
    await editor.command("fullgraph.showResults", "source")
    assert "first_text" in messages(editor)
    assert not any(message.startswith("before") for message in messages(editor))
    await editor.command("fullgraph.showResults")
    assert "before [segfault]" in messages(editor)
    await editor.command("fullgraph.clear", "source")
    assert not any(message.startswith("first_text") for message in messages(editor))
    assert "before" in messages(editor)


async def test_targets_of_the_folder(editor: Editor) -> None:
    folder = editor.program.parent
    (folder / "model.py").write_text(
        "import torch\n\n# fullgraph: double(f32[3])\ndef double(x):\n    return 2 * x\n"
    )
    (folder / "test_model.py").write_text(
        "import torch\nclass TestModel:\n    def test_one(self):\n        torch.compile(abs)\n"
    )
    found = await targets(editor)
    assert found["hang"]["configured"]
    assert found["model.py::double"] == {
        "id": f"{folder / 'model.py'}::double",
        "label": "model.py::double",
        "kind": "example",
        "uri": uri_of(folder / "model.py"),
        "folder": uri_of(folder),
        "configured": False,
        "stale": False,
        "runOnSave": True,
        "range": {"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 16}},
        "selectionRange": {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 10}},
    }
    test = found["test_model.py::TestModel::test_one"]
    assert (test["id"], test["kind"]) == (f"pytest:{folder}/test_model.py::TestModel::test_one", "pytest")
    assert test["selectionRange"]["start"] == {"line": 2, "character": 8}


async def test_a_file_by_its_path_in_the_workspace(editor: Editor) -> None:
    assert "program.py" not in await targets(editor)
    summary = await editor.command("fullgraph.run", "program.py")
    assert summary["target"] == str(editor.program)
    assert (await targets(editor))["program.py"]["state"] == "crashed", "what has run is listed"


# -- ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["shutdown", "end of input", "SIGTERM", "SIGKILL"])
async def test_no_process_outlives_the_server(editor: Editor, end: str) -> None:
    run = begin(editor, "fork-and-hang")
    await editor.until(lambda: messages(editor))
    child = int(messages(editor)[0])
    server = editor._server
    if end == "shutdown":
        await editor.shutdown_async(None)
        editor.exit(None)
    elif end == "end of input":
        server.stdin.close()
    else:
        server.send_signal(signal.Signals[end])
    assert await asyncio.to_thread(dies, child)
    await asyncio.wait_for(server.wait(), 20)
    await asyncio.gather(run, return_exceptions=True)
    editor.capabilities = None  # the session is over already


# -- bad input ---------------------------------------------------------------------------------


BAD_ARGUMENTS: list[tuple[list[Any], str]] = [
    (["file:///no/such/file.py"], "There is no file /no/such/file.py."),
    (["untitled:Untitled-1"], "Only files on disk can be run: save untitled:Untitled-1 first."),
    (["vscode-notebook-cell://x/y.ipynb#1"], "Only files on disk can be run"),
    (["no target of this name"], "There is no target no target of this name."),
    (["pytest:test_none.py::test"], "There is no file test_none.py for the test test_none.py::test."),
    (["{folder}"], "is a folder: run one of its files."),
    (["{folder}/program.py::f"], "f in {folder}/program.py has no example call."),
    ([], "fullgraph.run takes one argument: the URI of a file, or the id of a target."),
    ([5], "fullgraph.run takes one argument"),
    (["source", "hang"], "fullgraph.run takes a target, and optionally {dryRun: boolean, device: string}."),
]


async def test_bad_arguments(editor: Editor) -> None:
    folder = str(editor.program.parent)
    for arguments, message in BAD_ARGUMENTS:
        given = [item.replace("{folder}", folder) if isinstance(item, str) else item for item in arguments]
        with pytest.raises(JsonRpcException) as refused:
            await editor.command("fullgraph.run", *given)
        assert message.replace("{folder}", folder) in str(refused.value)
    assert editor.statuses == []
    assert editor.messages == []


async def test_missing_interpreter(editor: Editor) -> None:
    editor.set_configuration({"fullgraph": {"interpreter": "/no/such/python"}})
    summary = await editor.command("fullgraph.run", "source")
    assert (summary["status"], summary["findings"]) == ("not-started", 1)
    assert messages(editor) == [], "no file is at fault"
    (finding,) = (await editor.ask("fullgraph/report", target="source"))["findings"]
    assert (finding["severity"], finding["message"]) == (
        "error",
        "There is no interpreter /no/such/python",
    )
    assert "location" not in finding


async def test_settings_of_the_wrong_type_are_told_once(editor: Editor) -> None:
    editor.set_configuration({"fullgraph": {"interpreter": ["a", "b"], "timeout": "long"}})
    editor.program.parent.joinpath("pyproject.toml").write_text(
        f'[tool.fullgraph]\npython = "{editor.program.parents[1] / "python"}"\n'
        'targets = [{ name = "source", script = "program.py", args = ["source"] }]\n'
    )
    for _ in range(2):
        assert (await editor.command("fullgraph.run", "source"))["status"] == "finished"
    assert [item.message for item in editor.messages] == [
        (
            "The setting fullgraph.interpreter must be the path of a Python, or a list with one, "
            "not ['a', 'b']: it is ignored."
        ),
        "The setting fullgraph.timeout must be a number of seconds above 0, not 'long': it is ignored.",
    ]


async def test_time_limit(editor: Editor) -> None:
    python = str(editor.program.parents[1] / "python")
    editor.set_configuration({"fullgraph": {"interpreter": [python], "timeout": 0.5}})
    assert (await editor.command("fullgraph.run", "hang"))["status"] == "timeout"
    shown = [item for params in editor.published for item in params.diagnostics]
    stopped = next(item for item in shown if "Stopped after 0.5 s" in item.message)
    assert stopped.severity == types.DiagnosticSeverity.Information
    context = types.CodeActionContext([stopped])
    document = types.TextDocumentIdentifier(uri_of(editor.program))
    actions = await editor.text_document_code_action_async(
        types.CodeActionParams(document, stopped.range, context)
    )
    longer = next(action for action in actions or [] if action.title == "Run again with a limit of 2.5 s")
    assert (await editor.command(longer.command.command, *longer.command.arguments))["status"] == "timeout"
    assert any("Stopped after 2.5 s" in item.message for item in editor.published[-1].diagnostics)


async def test_file_that_is_gone(editor: Editor) -> None:
    editor.open(editor.program)
    await editor.command("fullgraph.run", "source")
    editor.program.unlink()
    with pytest.raises(JsonRpcException, match="There is no file"):
        await editor.command("fullgraph.run", str(editor.program))
    assert messages(editor) == ["first_text"]


@pytest.mark.parametrize(
    ("program", "status", "line", "message"),
    [
        ("x = 1\ndef f(:\n    pass\n", "not-started", 1, "SyntaxError"),
        ("import ctypes\n\nctypes.string_at(0)\n", "crashed", 2, "segmentation fault (SIGSEGV)"),
        ("def f():\n    while True:\n        pass\nf()\n", "timeout", (1, 2), "Stopped after 4 s"),
        ("import os\nos._exit(3)\n", "crashed", 0, "exit code 3"),
        ("import os\nos.closerange(3, 100)\nx = 1 / 0\n", "crashed", 0, "closed the file descriptors"),
    ],
)
async def test_program_that_goes_wrong(
    editor: Editor, program: str, status: str, line: int | tuple[int, ...], message: str
) -> None:
    editor.set_configuration({"fullgraph": {"interpreter": sys.executable, "timeout": 4}})
    editor.program.write_text(program)
    summary = await editor.command("fullgraph.run", str(editor.program))
    target = str(editor.program)
    assert summary == {"target": target, "status": status, "findings": 1, "compiled": False}
    (found,) = editor.published[-1].diagnostics
    assert editor.published[-1].uri == uri_of(editor.program)
    assert found.range.start.line in (line if isinstance(line, tuple) else (line,))
    assert message in found.message
