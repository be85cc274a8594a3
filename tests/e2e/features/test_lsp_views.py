"""The server over real stdio, with the real compiler: what views, lenses and quick fixes show."""

from __future__ import annotations

import json
import sys
import venv
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import pytest_lsp
from lsp_session import CONFIG, STEP, Editor, uri_of
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODEL = f"""\
{STEP}

def test_step():
    torch.compile(step)(torch.ones(3))


if __name__ == "__main__":
    step(torch.ones(2))
"""


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    await lsp_client.analyze_step(tmp_path_factory.mktemp("views") / "test_model.py", MODEL)
    yield
    await lsp_client.shutdown_session()


def place(location: Any) -> tuple[str, int, int]:
    start = location["range"]["start"]
    return location["uri"].rpartition("/")[2], start["line"], start["character"]


async def test_report_has_functions_graphs_and_findings(editor: Editor) -> None:
    report = await editor.ask("fullgraph/report", target=editor.target)
    (frame,) = report["frames"]
    assert (frame["function"], frame["breaks"], frame["recompiles"]) == ("step", 1, 2)
    assert place(frame["location"]) == ("test_model.py", 4, 0)
    lines = [(graph["compileId"], place(graph["location"])[1]) for graph in frame["graphs"]]
    assert lines[:2] == [("0/0", 5), ("1/0", 7)], "the part before the break, and the one after it"
    codes = {report["findings"][index]["code"] for index in frame["findings"]}
    assert codes == {"GB0059", "recompile"}
    assert report["torch"]
    assert await editor.ask("fullgraph/report", target="nothing ran by this name") is None


async def test_guards_of_a_function_those_that_failed_first(editor: Editor) -> None:
    report = await editor.ask("fullgraph/report", target=editor.target)
    ask = {"target": editor.target, "generation": report["generation"], "frame": 0}
    guards = await editor.ask("fullgraph/guards", **ask)
    assert len(guards) == report["frames"][0]["guards"]
    first = guards[0]
    assert (first["name"], first["kind"], first["failures"]) == ("x", "TENSOR_MATCH", 2), (
        "by the function, and by its rest after the break"
    )
    assert place(first["location"])[1] in (5, 7)
    assert await editor.ask("fullgraph/guards", **{**ask, "generation": 0}) == []
    assert await editor.ask("fullgraph/guards", **{**ask, "frame": 99}) == []


async def test_lenses_run_targets_and_sum_functions_up(editor: Editor) -> None:
    (run, inductor, total, profile, test, script) = await editor.lenses(editor.uri)
    assert run == (4, "▶ Analyze with Fullgraph", "fullgraph.run")
    assert inductor == (4, "Run TorchInductor", "fullgraph.kernels")
    assert total[0] == 4
    assert total[1].startswith("4 graphs · 1 graph break · ")
    assert total[2] == "fullgraph.showTarget"
    assert profile == (4, "Profile recompilations", "fullgraph.recompiles")
    assert (test[0], script[0]) == (10, 14)


async def test_a_file_that_has_nothing_to_do_with_torch_has_no_lenses(editor: Editor) -> None:
    other = editor.file.with_name("test_other.py")
    other.write_text("def test_nothing():\n    pass\n")
    assert await editor.lenses(editor.open(other)) == []
    items = await editor.ask("fullgraph/targets", textDocument={"uri": uri_of(other)})
    assert [item["label"] for item in items] == ["test_other.py::test_nothing"], "it can be run all the same"


async def test_targets_of_a_document_are_of_its_newest_text(editor: Editor) -> None:
    other = editor.file.with_name("new.py")
    other.write_text("")
    uri = editor.open(other)
    whole = types.TextDocumentContentChangeWholeDocument("# fullgraph: f(1)\ndef f(x):\n    return x\n")
    identifier = types.VersionedTextDocumentIdentifier(version=2, uri=uri)
    editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [whole]))
    (item,) = await editor.ask("fullgraph/targets", textDocument={"uri": uri})
    assert (item["label"], item["kind"], item["selectionRange"]["start"]["line"]) == (
        "new.py::f",
        "example",
        1,
    )


async def explanation(editor: Editor, uri: str) -> str:
    params = types.TextDocumentContentParams(uri)
    return (await editor.workspace_text_document_content_async(params)).text


async def test_quick_fix_leads_to_the_full_explanation(editor: Editor) -> None:
    shown = [params for params in editor.published if params.uri == editor.uri][-1].diagnostics
    found = next(item for item in shown if item.code == "GB0059")
    context = types.CodeActionContext([found])
    document = types.TextDocumentIdentifier(editor.uri)
    actions = await editor.text_document_code_action_async(
        types.CodeActionParams(document, found.range, context)
    )
    titled = {action.title: action for action in actions or []}
    assert "Ignore GB0059 on this line" in titled
    action = titled["Show the full explanation of GB0059"]
    assert action.command.command == "fullgraph.showExplanation"
    (uri,) = action.command.arguments
    text = await explanation(editor, uri)
    assert text.startswith("# GB0059: `print` breaks the graph")
    assert f'[test_model.py:7]({editor.uri}#L7) in `step`: `print("woo")`' in text
    assert "## The graph before the break" in text
    assert "torch.sin" in text or ".sin()" in text
    assert "## torch's whole message" in text
    assert "fullgraph_compiler" not in text, "calls within Fullgraph say nothing of the program"

    hover = await editor.hover(editor.uri, 6, 6)
    assert "[Full explanation](command:fullgraph.showExplanation?" in hover.contents.value
    arguments = unquote(hover.contents.value.partition("showExplanation?")[2].partition(")")[0])
    assert json.loads(arguments) == [uri]


async def test_explanation_that_is_not_there_any_more(editor: Editor) -> None:
    key = json.dumps([editor.target, "unknown", 0])
    assert "no longer has this finding" in await explanation(editor, f"fullgraph-explanation:/x.md?{key}")
    with pytest.raises(JsonRpcException, match="is not a Fullgraph document"):
        await explanation(editor, "fullgraph-explanation:/x.md?nonsense")


async def test_the_client_is_asked_to_read_explanations_here(editor: Editor) -> None:
    await editor.until(lambda: editor.registered)
    (registration,) = editor.registered
    assert registration.method == "workspace/textDocumentContent"


async def test_interpreter_and_its_origin(editor: Editor) -> None:
    item = await editor.ask("fullgraph/interpreter", uri=editor.uri)
    assert (item["path"], item["origin"]) == (sys.executable, "the Python extension")
    assert item["torch"]
    assert "problem" not in item
    editor.set_configuration({"fullgraph": {"interpreter": "/no/such/python"}})
    item = await editor.ask("fullgraph/interpreter", uri=uri_of(editor.file.parent))
    assert item["origin"] == "the setting fullgraph.interpreter"
    assert item["problem"].startswith("There is no interpreter /no/such/python. Choose a Python")
    assert "There is no interpreter" in await editor.ask("fullgraph/environment", uri=editor.uri)
    editor.set_configuration({"fullgraph": {"activeInterpreter": sys.executable}})


async def test_interpreters_to_choose_from(editor: Editor, tmp_path: Path) -> None:
    venv.create(editor.file.parent / ".venv", symlinks=True)
    without = str(editor.file.parent / ".venv" / "bin" / "python")
    gone = str(tmp_path / "gone")
    used, *others = await editor.ask("fullgraph/interpreters", uri=editor.uri, known=[gone])
    assert used["path"] == sys.executable
    assert used["torch"]
    found = {item["path"]: item for item in others}
    assert found[without]["origin"] == ".venv"
    assert found[without]["python"]
    assert "torch" not in found[without]
    assert gone not in found, "nobody can choose it"


async def test_environment_report_is_torchs_own(editor: Editor) -> None:
    report = await editor.ask("fullgraph/environment", uri=editor.uri)
    assert f"- Interpreter: {sys.executable} (the Python extension)" in report
    assert "PyTorch version: " in report


async def test_an_edit_makes_a_report_stale_and_a_save_runs_it_again_unless_told_not_to(
    editor: Editor,
) -> None:
    await editor.command("fullgraph.runOnSave", editor.target, False)
    begun, refreshed = len(editor.statuses), editor.refreshed
    edited = MODEL.replace('    print("woo")\n', "")
    change = types.TextDocumentContentChangeWholeDocument("\n" + edited)
    identifier = types.VersionedTextDocumentIdentifier(version=2, uri=editor.uri)
    editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
    await editor.until(lambda: len(editor.statuses) > begun)
    assert (editor.statuses[-1].stale, editor.statuses[-1].runOnSave) == (True, False)
    await editor.until(lambda: editor.refreshed > refreshed)
    lenses = await editor.lenses(editor.uri)
    stale = [(line, title.endswith("(stale)")) for line, title, _ in lenses]
    assert stale[:3] == [(5, False), (5, False), (5, True)]

    editor.file.write_text("\n" + edited)
    editor.save(editor.uri)
    await editor.ask("fullgraph/targets")
    assert len(editor.statuses) == begun + 1, "it does not run"
    await editor.command("fullgraph.runOnSave", editor.target, True)
    editor.save(editor.uri)
    await editor.until(lambda: not editor.statuses[-1].stale and editor.statuses[-1].state == "finished")
    lenses = await editor.lenses(editor.uri)
    assert "break" not in lenses[2][1]
    with pytest.raises(JsonRpcException, match="takes two arguments"):
        await editor.command("fullgraph.runOnSave", editor.target)


async def test_lenses_stay_while_a_line_is_being_written(editor: Editor) -> None:
    before = await editor.lenses(editor.uri)
    change = types.TextDocumentContentChangeWholeDocument(editor.file.read_text() + "def (\n")
    identifier = types.VersionedTextDocumentIdentifier(version=3, uri=editor.uri)
    editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
    await editor.until(lambda: editor.statuses[-1].stale)
    stale = [
        (line, f"{title} (stale)" if command == "fullgraph.showTarget" else title, command)
        for line, title, command in before
    ]
    assert await editor.lenses(editor.uri) == stale, "as the view of targets says"


async def test_two_folders_may_have_a_target_of_one_name(editor: Editor, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        (folder / "pyproject.toml").write_text(
            '[tool.fullgraph]\ntargets = [{ name = "train", script = "train.py" }]\n'
        )
        (folder / "train.py").write_text(f"print('{folder.name}')\n")
    added = [types.WorkspaceFolder(uri_of(folder), folder.name) for folder in folders]
    event = types.WorkspaceFoldersChangeEvent(added=added, removed=[])
    editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    items = [item for item in await editor.ask("fullgraph/targets") if item["configured"]]
    assert [(item["id"], item["folder"]) for item in items] == [
        ("train", uri_of(folders[0])),
        (f"train ({folders[1]})", uri_of(folders[1])),
    ]
    for item in items:
        assert (await editor.command("fullgraph.run", item["id"]))["status"] == "finished"
