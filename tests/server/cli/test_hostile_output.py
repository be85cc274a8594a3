"""The command line prints no text of a program, a log or a file name that a terminal or a CI system obeys."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import fullgraph_server.cli
import pytest
from click.testing import CliRunner
from fullgraph_compiler.facts import RunFinished
from fullgraph_server.analyses.registry import analyses
from fullgraph_server.cli import main
from fullgraph_server.cli.exports.page import TRACE_ITEM
from fullgraph_server.cli.formats import (
    COMPARISON_FORMATS,
    FORMATS,
    CheckedReport,
    capabilities,
    kernels,
)
from fullgraph_server.cli.formats.analysed import formats_of
from fullgraph_server.cli.formats.comparison import compared
from fullgraph_server.cli.output import clean, clean_console
from fullgraph_server.client.shown_text import _OWN, create_shown_converter
from fullgraph_server.commands.performance import PERFORMANCE_ITEM
from fullgraph_server.commands.report import GUARD, LAYER, REPORT_ITEM
from fullgraph_server.protocol.lines import LineEntry, LineSection
from fullgraph_server.protocol.wire import MESSAGES
from fullgraph_server.report.fold import fold
from fullgraph_server.shapes.shape import JsonKey, JsonShape
from fullgraph_server.text.visible import visible, visible_lines
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.targets import script_target
from fullgraph_server.workspace.workspace import Workspace
from hostile import TERMINAL, facts
from lsprotocol import types
from pygls.protocol.json_rpc import JsonRPCResponseMessage
from rich.text import Text

pytestmark = pytest.mark.portable

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
COMMAND = re.compile(r"^\s*::|##\[|##vso\[")

Write = Callable[[CheckedReport, io.StringIO], None]


def checked(text: str, folder: Path) -> CheckedReport:
    filename = re.sub("[/\0\ud800]", "", f"{text}.py")  # which no path can have
    line = "".join(text.splitlines())
    source = SourceFile(filename, f"import torch\n{line}\nx = y; '{line}'\n{line}\n")
    workspace = Workspace(folder, {filename: source}.get)
    told = [
        fact
        for fact in facts(text, filename, f"0/0{text}", f"0/1{text}")
        if not isinstance(fact, RunFinished)
    ]
    told.append(RunFinished("finished", 1.0))
    report = fold(filename, 1, text, told, workspace, filename, "recompiles")
    return CheckedReport(script_target(filename, folder), report, workspace)


def writers() -> dict[str, Write]:
    """All that writes a report, by name."""
    groups = {
        "check": FORMATS,
        "own": {"kernels": kernels.write, "capabilities": capabilities.write},
        **{item.id: formats_of(item) for item in analyses().values() if item.lines is not None},
    }
    found: dict[str, Write] = {}
    for group, formats in groups.items():
        for name, write in formats.items():
            found[f"{group} {name}"] = lambda item, out, write=write: write([item], 1, out)
            found[f"{group} {name} twice"] = lambda item, out, write=write: write([item, item], 2, out)
    for name, compare in COMPARISON_FORMATS.items():
        found[f"diff {name} new"] = lambda item, out, write=compare: write(compared(ONE, item), item, out)
        found[f"diff {name} gone"] = lambda item, out, write=compare: write(compared(item, ONE), ONE, out)
    return found


ONE = checked("toy", Path("/w"))


@pytest.mark.parametrize("name", writers())
def test_nothing_hostile_is_obeyed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in TERMINAL:
        out = io.StringIO()
        writers()[name](checked(text, tmp_path), out)
        written = out.getvalue()
        assert written
        written.encode()  # raises, where there is half a character
        assert UNSEEN.findall(written) == [], text
        lines = written.split("\n")
        if "github" in name:
            assert {line.partition(" ")[0] for line in lines if line} <= {"::error", "::warning", "::notice"}
        else:
            assert [line for line in lines if COMMAND.search(line)] == [], text


@pytest.mark.parametrize("output", ["json", "sarif"])
def test_json_holds_no_half_of_a_character(output: str, tmp_path: Path) -> None:
    out = io.StringIO()
    FORMATS[output]([checked("\ud800 \udcff", tmp_path)], 1, out)
    assert "\\ud800" in out.getvalue()
    json.dumps(json.loads(out.getvalue()), ensure_ascii=False).encode()


def test_a_terminal_gets_our_styles_and_no_others() -> None:
    out = io.StringIO()
    console = clean_console(out)
    console._force_terminal = True
    console._color_system = None
    console.print(Text.assemble(("a\x1b[31mb", "bold"), "c\nd", ("::e", "bold")))
    console.print("  ::error::x")
    assert out.getvalue() == "a\\x1b[31mbc\\nd::e\n  \\x3a:error::x\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: b::c ## d\t", "a: b::c ## d\t"),
        ("::error::x", "\\x3a:error::x"),
        ("\u3000 ::error", "\u3000 \\x3a:error"),
        ("a ##[error]b", "a #\\x23[error]b"),
        ("a ##vso[task]b", "a #\\x23vso[task]b"),
        ("a\r\n\x9b\x85\u2028", "a\\r\\n\\x9b\\x85\\u2028"),
    ],
)
def test_a_line_is_no_command(text: str, line: str) -> None:
    assert clean(text) == line


def test_errors_of_the_command_line_are_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = "a\x1b[31m\n::error::b\u202e"
    (tmp_path / "pyproject.toml").write_text("[tool.fullgraph]\n")
    for words in (
        ["check", hostile],
        ["check", "--pytest", hostile],
        ["check", f"--{hostile}", "x"],
        [hostile],
        [f"--{hostile}"],
        ["trace", hostile],
        ["trace", "diff", hostile, hostile],
        ["check", "--fail-on", hostile, "x"],
    ):
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 2, words
        assert UNSEEN.findall(result.output) == []
        assert [line for line in result.output.splitlines() if COMMAND.search(line)] == []


def test_what_cannot_be_encoded_is_written_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = {name: io.TextIOWrapper(io.BytesIO(), "ascii") for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    with pytest.raises(SystemExit):
        main(["check", "ü\udcff.py"])
    streams["stderr"].flush()
    assert b"\\udcff.py does not exist" in streams["stderr"].buffer.getvalue()  # type: ignore[attr-defined]


def test_one_module_writes_all_output() -> None:
    folder = Path(fullgraph_server.cli.__file__).parent
    writes = re.compile(r"(?<!console\.)\bprint\(|\becho\(|\.write\(|json\.dump\b|\bConsole\(file")
    own = {"output.py": True, "github.py": True}
    found = {path.name: bool(writes.search(path.read_text())) for path in folder.rglob("*.py")}
    assert {name: uses for name, uses in found.items() if uses} == own


def test_visible_text_stays_as_it_is() -> None:
    assert visible("naïve 界 `x` \t") == "naïve 界 `x` \t"


FOR_MACHINES = {
    "args", "compile_id", "console", "cwd", "device", "document", "documents", "env", "explanation",
    "file", "files", "folder", "gpu", "graph", "id", "kernels", "kind", "language", "layer", "lines",
    "module", "path", "phase", "previous", "program", "python", "repro", "request", "status", "target",
    "text", "texts", "torch", "type", "uri",
}  # fmt: skip
"""Ids, URIs, code, texts that are written into files, and names that the code itself has chosen."""


def test_what_an_editor_shows_has_no_invisible_characters() -> None:
    text = "".join(TERMINAL)
    place = types.Range(types.Position(0, 0), types.Position(0, 1))
    related = types.DiagnosticRelatedInformation(types.Location("file:///a", place), text)
    diagnostic = types.Diagnostic(place, text, related_information=[related])
    action = types.CodeAction(text, diagnostics=[diagnostic], command=types.Command(text, "x"))
    answers: list[Any] = [
        types.PublishDiagnosticsParams("file:///a", [diagnostic]),
        types.HoverResponse(id=1, result=types.Hover(types.MarkupContent(types.MarkupKind.PlainText, text))),
        types.CodeActionResponse(id=1, result=[action, types.Command(text, "x")]),
        types.CodeLensResponse(id=1, result=[types.CodeLens(place, types.Command(text, "x"))]),
        types.CompletionResponse(id=1, result=[types.CompletionItem(text, detail=text)]),
        types.InlayHintResponse(id=1, result=[types.InlayHint(place.start, text, tooltip=text)]),
        types.ResponseErrorMessage(id=1, error=types.ResponseError(1, text)),
        types.WorkDoneProgressBegin(text, message=text),
        types.WorkDoneProgressReport(message=text),
        types.WorkDoneProgressEnd(message=text),
        types.ShowMessageParams(types.MessageType.Info, text),
        JsonRPCResponseMessage(
            1, "2.0", [LineSection("guards", text, [LineEntry(text, notes=[text])], text)]
        ),
    ]
    converter = create_shown_converter()
    for answer in answers:
        sent = list(_texts(converter.unstructure(answer)))
        assert visible_lines(text) in sent
        assert [item for item in sent if visible_lines(item) != item] == []
    assert converter.unstructure(types.TextEdit(place, text))["newText"] == text  # a file is as it was


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


def _keys(shape: JsonShape) -> Iterator[tuple[JsonKey, Any]]:
    for key in shape.keys:
        yield key, shape.annotation(key)
        if key.shape is not None:
            yield from _keys(key.shape)


def test_each_text_of_a_message_is_for_people_or_for_machines() -> None:
    create_shown_converter()
    texts = {
        field.name
        for message in MESSAGES
        if not message.__name__.endswith("Params")
        for field in attrs.fields(message)
        if "str" in str(field.type)
    }
    roots = (REPORT_ITEM, LAYER, GUARD, PERFORMANCE_ITEM, TRACE_ITEM)
    texts |= {key.name for shape in roots for key, of in _keys(shape) if "str" in str(of)}
    assert texts - _OWN == FOR_MACHINES
