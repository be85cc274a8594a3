"""The server over real stdio: traces that were made elsewhere, on the files of the open folder."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor, uri_of
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRACES = Path(__file__).parents[2] / "compiler" / "traces"
PROGRAM = (TRACES / "program.py").read_text()
LOG = gzip.decompress((TRACES / "torch-2.13.log.gz").read_bytes())
SHORT = LOG[: LOG.index(b"\nV", LOG.index(b'"co_name": "limit"')) + 1]
"""The same, until a function has been compiled for the first time."""


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    folder = tmp_path_factory.mktemp("traces")
    (folder / "job.log").write_bytes(SHORT)
    for rank in range(4):
        log = SHORT if rank == 2 else LOG
        (folder / "ranks").mkdir(exist_ok=True)
        (folder / "ranks" / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(log)
    await lsp_client.open_program(folder / "program.py", PROGRAM)
    yield
    await lsp_client.shutdown_session()


def shown(editor: Editor) -> list[tuple[str, int]]:
    """Codes and rows of the diagnostics that are shown now."""
    told = [item for item in editor.published if item.uri == editor.uri]
    newest = told[-1].diagnostics if told else ()
    return sorted((str(item.code), item.range.start.line + 1) for item in newest)


async def read(editor: Editor, *args: Any) -> str:
    told = await editor.command("fullgraph.readTrace", *args)
    assert told["status"] == "finished"
    return str(told["target"])


async def test_findings_stand_on_the_local_source(editor: Editor) -> None:
    log = editor.file.parent / "job.log"
    target = await read(editor, str(log))
    assert target == f"trace:{log}"
    assert ("GB0059", 14) in shown(editor)
    assert ("recompile", 13) in shown(editor)
    assert not any(code == "recompile-limit" for code, _ in shown(editor)), "that comes later in the log"


async def test_a_trace_is_a_target_with_a_report(editor: Editor) -> None:
    target = f"trace:{editor.file.parent / 'job.log'}"
    (item,) = [item for item in await editor.ask("fullgraph/targets") if item["kind"] == "trace"]
    assert (item["id"], item["label"], item["state"]) == (target, "job.log", "finished")
    report = await editor.ask("fullgraph/report", target=target)
    assert {frame["function"] for frame in report["frames"]} >= {"toy", "breaks_in_loop"}
    assert report["ranks"] == []


async def test_hover_shows_the_guards_of_a_name(editor: Editor) -> None:
    document = types.TextDocumentIdentifier(editor.uri)
    column = PROGRAM.splitlines()[12].index("a /")
    hover = await editor.text_document_hover_async(types.HoverParams(document, types.Position(12, column)))
    assert hover is not None
    assert "torch.float32, shape" in str(hover.contents)


async def test_nothing_is_offered_that_needs_the_program(editor: Editor) -> None:
    target = f"trace:{editor.file.parent / 'job.log'}"
    lenses = await editor.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(editor.uri))
    )
    assert not any("Profile" in str(lens.command) or "Minify" in str(lens.command) for lens in lenses or ())
    for command in ("stages", "recipes", "compileTimes", "speed", "recompiles", "frozen", "minify"):
        with pytest.raises(JsonRpcException, match="is a trace of a run elsewhere"):
            await editor.command(f"fullgraph.{command}", target)


async def test_an_archive_is_read_as_its_folder(editor: Editor, tmp_path: Path) -> None:
    folder = editor.file.parent / "ranks"
    archive = Path(shutil.make_archive(str(tmp_path / "job"), "zip", folder))
    names = [await read(editor, str(place)) for place in (folder, archive)]
    one, other = [await editor.ask("fullgraph/report", target=name) for name in names]
    assert [rank["rank"] for rank in other["ranks"]] == [0, 1, 2, 3]
    assert other["frames"] == one["frames"]
    for name in names:
        await editor.command("fullgraph.clear", name)


async def test_a_log_that_grows_is_read_again(editor: Editor) -> None:
    published = len(editor.published)
    (editor.file.parent / "job.log").write_bytes(LOG)
    await editor.until(lambda: ("recompile-limit", 42) in shown(editor))
    assert len(editor.published) > published


async def test_an_edit_above_moves_the_findings(editor: Editor) -> None:
    editor.edit(editor.uri, "# new\n" + PROGRAM)
    await editor.until(lambda: ("GB0059", 15) in shown(editor))
    editor.edit(editor.uri, PROGRAM)
    await editor.until(lambda: ("GB0059", 14) in shown(editor))


async def test_the_rank_that_differs_is_named(editor: Editor) -> None:
    target = await read(editor, str(editor.file.parent / "ranks"))
    report = await editor.ask("fullgraph/report", target=target)
    assert [(rank["rank"], rank["differs"]) for rank in report["ranks"]] == [
        (0, False), (1, False), (2, True), (3, False)
    ]  # fmt: skip
    told = [item["message"] for item in report["findings"] if item["kind"] == "rank-difference"]
    assert "`limit` is compiled once on rank 2, and is compiled 8 times on the 3 others" in told
    assert any(code == "rank-difference" for code, _ in shown(editor))
    failures = [item for item in report["findings"] if item["kind"] == "compile-error"]
    assert failures
    assert not any(item.get("minify") for item in failures), "the program is not here"


async def test_one_rank_by_itself(editor: Editor) -> None:
    target = await read(editor, str(editor.file.parent / "ranks"), 2)
    assert target.endswith("#rank=2")
    report = await editor.ask("fullgraph/report", target=target)
    assert report["ranks"] == []
    assert not any(item["kind"] == "recompile-limit" for item in report["findings"])


async def test_two_traces_compared(editor: Editor) -> None:
    folder = editor.file.parent
    names = [f"trace:{folder / 'ranks'}#rank=2", f"trace:{folder / 'job.log'}"]
    uri = await editor.command("fullgraph.traceDiff", *names)
    text = (await editor.workspace_text_document_content_async(types.TextDocumentContentParams(uri))).text
    assert text.startswith("# ranks, rank 2, then job.log")
    assert "recompile limit hit" in text
    assert f"[program.py:42]({editor.uri}#L42)" in text


async def test_example_calls_are_offered(editor: Editor) -> None:
    await read(editor, str(editor.file.parent / "job.log"))  # which may be read again since it has grown
    place = types.Position(11, 4)  # def toy
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(editor.uri), types.Range(place, place), types.CodeActionContext([])
    )
    actions = await editor.text_document_code_action_async(params)
    (action,) = [item for item in actions or () if item.title == "Add example calls from the trace"]
    assert isinstance(action, types.CodeAction)
    assert "# fullgraph: toy(f32[10], f32[10])" in str(action.edit)


async def test_a_file_outside_of_the_folder_is_not_read(editor: Editor, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("                secret\n" * 99)
    log = editor.file.parent / "forged.log"
    log.write_bytes(LOG.replace(b"/home/user/project/program.py", str(secret).encode()))
    await read(editor, str(log))
    await editor.until(lambda: any(item.uri == uri_of(secret) for item in editor.published))
    told = next(item for item in editor.published if item.uri == uri_of(secret))
    assert {item.range.start.character for item in told.diagnostics} == {0}, "nothing is known of its lines"
    explanation = told.diagnostics[0].data["explanation"]
    params = types.TextDocumentContentParams(explanation)
    assert "secret\n" not in (await editor.workspace_text_document_content_async(params)).text


@pytest.mark.parametrize("name", ["\\ud800/program.py", "a\\u0000b.py", "C:\\\\x\\\\program.py", "/" * 3000])
async def test_names_that_no_file_has_do_no_harm(editor: Editor, name: str) -> None:
    log = editor.file.parent / "forged.log"
    log.write_bytes(LOG.replace(b"/home/user/project/program.py", name.encode()))
    target = await read(editor, str(log))
    report = await editor.ask("fullgraph/report", target=target)
    assert any(item["code"] == "GB0059" for item in report["findings"])
    await editor.command("fullgraph.clear", target)


async def test_what_is_no_trace_is_told_in_a_sentence(editor: Editor) -> None:
    with pytest.raises(JsonRpcException, match="There is no trace"):
        await editor.command("fullgraph.readTrace", str(editor.file.parent / "nothing"))
    told = await editor.command("fullgraph.readTrace", editor.uri)
    assert told["status"] == "not-started"
    report = await editor.ask("fullgraph/report", target=told["target"])
    (finding,) = report["findings"]
    assert finding["message"].startswith(f"{editor.file} is not a trace: record one with TORCH_TRACE=")


async def test_a_trace_that_is_closed_leaves_nothing(editor: Editor) -> None:
    for item in await editor.ask("fullgraph/targets"):
        if item["kind"] == "trace":
            await editor.command("fullgraph.clear", item["id"])
    await editor.until(lambda: shown(editor) == [])
    assert not any(item["kind"] == "trace" for item in await editor.ask("fullgraph/targets"))


async def reading(editor: Editor, target: str) -> list[str]:
    """The states of a trace, which the server also answers while it reads."""
    return [item["state"] for item in await editor.ask("fullgraph/targets") if item["id"] == target]


async def test_the_server_answers_while_it_reads_a_hostile_log_and_stop_ends_that(editor: Editor) -> None:
    log = editor.file.parent / "hostile.log"
    one = b'V1122 13:00:00.000000 1 torch/x.py:1] {"str": ["x", 0]}\n'
    log.write_bytes(LOG + one * 1_000_000)
    target = f"trace:{log}"
    asked = asyncio.create_task(editor.command("fullgraph.readTrace", str(log)))
    while await reading(editor, target) != ["running"]:
        assert not asked.done()
    for _ in range(50):
        assert await reading(editor, target) == ["running"]
    await editor.command("fullgraph.stop", target)
    assert (await asked)["status"] == "cancelled"
    assert await reading(editor, target) == ["cancelled"]
    await editor.command("fullgraph.clear", target)


@pytest.mark.parametrize(
    "name", ["\\\\server\\share\\program.py", "//server/share/program.py", "file://s/x.py"]
)
async def test_a_share_is_no_location(editor: Editor, name: str) -> None:
    log = editor.file.parent / "share.log"
    log.write_bytes(LOG.replace(b"/home/user/project/program.py", name.replace("\\", "\\\\").encode()))
    published = len(editor.published)
    target = await read(editor, str(log))
    report = await editor.ask("fullgraph/report", target=target)
    assert any(item["code"] == "GB0059" for item in report["findings"])
    told = json.dumps(report) + "".join(item.uri for item in editor.published[published:])
    assert "file://server" not in told
    assert "file://s/" not in told
    await editor.command("fullgraph.clear", target)
