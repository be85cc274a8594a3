"""``fullgraph trace -o``: a page that opens offline, every document, and the records of the log."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from faked_run import fullgraph
from fullgraph_compiler.trace import read_log
from fullgraph_server.cli.exports import folder as folder_module
from fullgraph_server.cli.exports.page import BUNDLE
from hostile import MARKDOWN, TERMINAL
from hostile_logs import everywhere
from traces import LOG, PROGRAM, RECORDED, SHORT

EVIL = "</script><script>alert(1)</script><!--<script>"
PARTS = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert BUNDLE.exists(), "run `npm run build` first"
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "job.log").write_bytes(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path: str = "job.log", *more: str) -> tuple[str, dict[str, Any]]:
    """The text of the page, and the data in it."""
    result = fullgraph("trace", path, "-o", "out", "--fail-on", "never", *more)
    assert (result.exit_code, result.exception) == (0, None), result.stderr
    assert "out/index.html opens in a browser; its folder can be shared\n" in result.stderr
    page = Path("out/index.html").read_bytes().decode()
    data, _ = PARTS.findall(page)
    return page, json.loads(data)


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_tells_what_the_editor_does(folder: Path) -> None:
    page, data = written()
    assert "<title>job.log</title>" in page
    assert (data["report"]["label"], data["report"]["torch"]) == ("job.log", "2.13.0+cpu")
    findings = data["trace"]["findings"]
    told = json.loads(fullgraph("trace", "job.log", "--format", "json").output)["findings"]
    assert {item["message"] for item in told} <= {item["finding"]["message"] for item in findings}
    broken = next(item for item in findings if item["finding"]["code"] == "GB0059")
    assert broken["place"] == "program.py:14:5"
    quoted = broken["excerpt"]
    assert quoted["lines"][14 - quoted["start"]] == '    print("woo")'
    assert (quoted["first"], quoted["last"]) == (14, 14)
    assert "help" in [note["label"] for note in broken["notes"]]
    assert data["trace"]["texts"].keys() == {item["uri"] for item in data["trace"]["report"]["artifacts"]}
    assert str(folder) not in page


@pytest.mark.parametrize("log", ["job.log", "packed.log.gz"])
def test_is_complete_and_loads_nothing(folder: Path, log: str) -> None:
    (folder / "packed.log.gz").write_bytes((RECORDED / "torch-2.11-gpu-toy.log.gz").read_bytes())
    page, data = written(log)
    _, script = PARTS.findall(page)
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0])
    assert policy == (
        f"default-src 'none'; script-src {hashed(script)} 'wasm-unsafe-eval'; style-src {hashed(style)}; "
        "worker-src blob:"
    )
    assert not re.search(r"<(link|img|iframe|base)\b", page)
    assert ("drawer" in data) == bool(data["report"]["pictures"])


@pytest.mark.parametrize("text", [EVIL, *MARKDOWN, *TERMINAL], ids=ascii)
def test_no_text_of_a_log_becomes_a_part_of_the_page(folder: Path, text: str) -> None:
    (folder / "job.log").write_bytes(everywhere(text).encode("utf-8", "surrogatepass"))
    page, data = written()
    outside = page.replace(PARTS.findall(page)[0], "")
    assert page.count("<script") == 2
    assert "INJECTED" not in outside
    assert "evil" not in outside
    assert data["trace"]["findings"]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.relative_to(folder).parts[0] for path in files} == {
        *("job.log", "out", "program.py", "pyproject.toml")
    }


def test_a_name_of_a_log_does_not_end_the_title(folder: Path) -> None:
    name = "<script>x.log"
    (folder / name).write_bytes(LOG)
    assert written(name)[0].count("<script") == 2


def test_only_files_of_the_workspace_are_quoted(folder: Path) -> None:
    secret = folder.parent / "program.py"
    secret.write_text("SECRET\n" * 100)
    (folder / "program.py").rename(folder / "other.py")
    (folder / "job.log").write_bytes(LOG.replace(b"/home/user/project/program.py", str(secret).encode()))
    page, data = written()
    assert "SECRET" not in page
    assert not [item for item in data["trace"]["findings"] if "excerpt" in item]


def test_every_document_and_record_is_a_file(folder: Path) -> None:
    _, data = written()
    for artifact in data["trace"]["report"]["artifacts"]:
        text = (folder / "out" / "documents" / artifact["file"]).read_text()
        assert text == data["trace"]["texts"][artifact["uri"]]
    rows = [json.loads(line) for line in (folder / "out" / "records.jsonl").read_text().splitlines()]
    assert [row.get("payload", "") for row in rows] == [
        record.payload for record in read_log(Path("job.log"))
    ]
    assert rows[0]["logged"].startswith("V")
    assert next(row["dynamo_start"]["stack"][-1]["name"] for row in rows if "dynamo_start" in row) == "toy"


def test_of_several_ranks_it_says_whose_graphs_it_has(folder: Path) -> None:
    (folder / "job").mkdir()
    for rank, log in enumerate((SHORT, LOG, LOG)):
        (folder / "job" / f"rank_{rank}.log").write_bytes(log)
    (folder / "job.log").unlink()
    _, data = written("job")
    assert data["trace"]["rank"] == 1
    assert [rank["differs"] for rank in data["trace"]["report"]["ranks"]] == [True, False, False]
    assert (folder / "out" / "records.jsonl").read_text().count("\n") == len(
        list(read_log(folder / "job/rank_1.log"))
    )
    _, data = written("job", "--rank", "0")
    assert data["report"]["label"] == "job, rank 0"
    assert (folder / "out" / "records.jsonl").read_text().count("\n") == SHORT.count(b"\nV") + 1


def test_a_folder_of_the_user_is_left_alone(folder: Path) -> None:
    for name, text in {"notes.txt": "mine", "index.html": "<!DOCTYPE html>\n<html>mine</html>"}.items():
        own = folder / "out"
        own.mkdir(exist_ok=True)
        (own / name).write_text(text)
        result = fullgraph("trace", "job.log", "-o", "out")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "out is not empty, and holds no page of a trace: name another folder\n" in result.stderr
        assert (own / name).read_text() == text
    assert sorted(path.name for path in own.iterdir()) == ["index.html", "notes.txt"]


def test_files_of_the_user_beside_a_page_are_left_alone(folder: Path) -> None:
    written()
    shutil.rmtree(folder / "out" / "documents")
    for name in ("documents/mine", "records.jsonl"):
        own = folder / "out" / name
        own.parent.mkdir(exist_ok=True)
        own.write_text("mine")
        result = fullgraph("trace", "job.log", "-o", "out")
        path = Path("out", *own.relative_to(folder / "out").parts[:1])
        assert f"Error: {path} does not belong to the page next to it: name another folder\n" in result.stderr
        assert (result.exit_code, own.read_text()) == (2, "mine")
        shutil.rmtree(own.parent) if own.name == "mine" else own.unlink()
    (folder / "out" / "notes.txt").write_text("mine")
    written()
    assert (folder / "out" / "notes.txt").read_text() == "mine"


def test_an_earlier_page_is_replaced(folder: Path) -> None:
    written()
    stale = folder / "out" / "documents" / "9_9"
    stale.mkdir()
    written()
    assert not stale.exists()


def test_links_in_a_page_that_came_from_elsewhere_lead_nowhere(folder: Path) -> None:
    written()
    mine = folder / "mine"
    mine.mkdir()
    (mine / "a").write_text("mine")
    (folder / "out" / "records.jsonl").unlink()
    (folder / "out" / "records.jsonl").symlink_to(mine / "a")
    written()
    assert (mine / "a").read_text() == "mine"
    documents = folder / "out" / "documents"
    documents.rename(folder / "elsewhere")
    documents.symlink_to(mine)
    written()
    assert [path.name for path in mine.iterdir()] == ["a"]
    assert not documents.is_symlink()


def test_without_its_program_it_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "BUNDLE", folder / "missing")
    result = fullgraph("trace", "job.log", "-o", "out")
    assert result.exit_code == 2
    assert "missing: in a checkout of Fullgraph, `npm run build` makes it" in result.stderr
    assert not (folder / "out").exists()


def test_a_file_in_the_place_of_the_folder(folder: Path) -> None:
    (folder / "out").write_text("mine")
    assert fullgraph("trace", "job.log", "-o", "out").exit_code == 2
    result = fullgraph("trace", "job.log", "-o", "out/deeper")
    assert (result.exit_code, (folder / "out").read_text()) == (1, "mine")
    assert result.stderr == "Error: out/deeper cannot be written: Not a directory\n"
