"""Notebooks as programs: what cells become, where rows are, and what is no program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from faked_run import fake_runs, fullgraph
from fullgraph_compiler.facts import GraphBreak, StackFrame, TargetProblem
from fullgraph_server.fixes.writing import UnwritableError, write_texts
from fullgraph_server.workspace import source as source_module
from fullgraph_server.workspace.notebooks.program import as_python
from fullgraph_server.workspace.source import SourceFile, read_source, unreadable
from fullgraph_server.workspace.targets import cell_target, example_targets, file_target

CELLS = (
    "%matplotlib inline\nimport torch",
    "%%bash\nls",
    "# fullgraph: f(f32[2])\ndef f(x):\n    return x\n",
    "y = await f(1)",
)


def notebook(*cells: Any, **other: Any) -> dict[str, Any]:
    """A notebook with code cells, and a text before each."""
    text = {"cell_type": "markdown", "source": ["# Text"], "metadata": {}}
    code = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in cells]
    all_cells = [cell for one in code for cell in (text, one)]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": all_cells, **other}


def write(folder: Path, content: Any, name: str = "model.ipynb") -> str:
    """Write a notebook as Jupyter does."""
    path = folder / name
    if not isinstance(content, (str, bytes)):
        content = json.dumps(content, indent=1) + "\n"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def read(folder: Path, *cells: Any) -> SourceFile:
    """The program of a notebook."""
    source = read_source(write(folder, notebook(*cells)))
    assert source is not None
    return source


@pytest.mark.parametrize(
    ("cell", "program"),
    [
        ("%time f(x)\n!ls -l\n?f", "#time f(x)\n#ls -l\n#f"),
        ("f?\ntorch.compile??", "#?\n#orch.compile??"),
        ("files = !ls\nt = %time f()", "#iles = !ls\n# = %time f()"),
        ("x = (7\n  % 3)\n%time f()", "x = (7\n  % 3)\n#time f()"),
        ('text = """\n%time f()\n"""\n!echo it\'s', 'text = """\n%time f()\n"""\n#echo it\'s'),
        ("!pip install \\\n  torch\nx = 1", "#pip install \\\n  #orch\nx = 1"),
        ("if x:\n    %time f()\n    !l\ny = 1", "if x:\n    ...#e f()\n    #l\ny = 1"),
        ("  %time f()\nx = 1", "  ...#e f()\nx = 1"),
        ("%%time\nx = 1\n!ls", "#%time\nx = 1\n#ls"),
        ("%%timeit\nx = 1", "#%timeit\n#%= 1"),
        (" %%bash\n# fullgraph: f()\n\nx", "#%%bash\n#%fullgraph: f()\n\n#"),
        ("x = 1\r\n%time f()", "x = 1\n#time f()"),
        ("f(\n%time g()", "f(\n%time g()"),
        ("x = 'really?'\ny = x +", "x = 'really?'\ny = x +"),
        ("\0%x", "\0%x"),
    ],
)
def test_what_only_ipython_knows_becomes_a_comment_of_the_same_length(cell: str, program: str) -> None:
    assert as_python(cell) == program


def test_many_magics_are_read_at_once() -> None:
    cell = "x = 1\n" + "!echo 'it\n" * 5_000
    assert as_python(cell).count("#echo") == 5_000


def test_each_row_is_one_of_a_cell(tmp_path: Path) -> None:
    source = read(tmp_path, *CELLS[:2], CELLS[2].splitlines(keepends=True), CELLS[3])
    assert source.cells == (1, 3, 5, 9)
    assert source.tree is not None
    assert [source.cell(row) for row in (1, 2, 4, 5, 8, 9)] == [
        (1, 1),
        (1, 2),
        (2, 2),
        (3, 1),
        (3, 4),
        (4, 1),
    ]
    assert (source.place(7), source.row_words(7)) == ("cell 3:3", "3 of cell 3")
    assert "\n".join(source.by_cell()) == source.text
    plain = SourceFile("a.py", "x")
    assert (plain.place(7), plain.row_words(7), plain.cell(7)) == ("7", "7", (0, 7))


def test_a_program_ends_with_a_cell(tmp_path: Path) -> None:
    source = read(tmp_path, *CELLS)
    first = source.until(3)
    assert first.lines == source.lines[:8]
    assert first.cells == (1, 3, 5)
    assert source.until(4) is source.until(0) is source.until(9) is source
    assert source.still_is(first)
    assert not first.still_is(source)
    assert not read(tmp_path, "x = 2", *CELLS[1:]).still_is(first)


def test_targets_are_the_whole_a_part_and_example_calls(tmp_path: Path) -> None:
    source = read(tmp_path, *CELLS)
    elsewhere = tmp_path / "elsewhere"
    whole, part = file_target(source, elsewhere), cell_target(source, 2, elsewhere)
    (example,) = example_targets(source, elsewhere)
    assert (whole.id, whole.kind, whole.cells) == (source.filename, "example", 4)
    assert (part.id, part.kind, part.cells) == (f"{source.filename}::2", "script", 2)
    assert (example.id, example.cells) == (f"{source.filename}::f", 3)
    assert {target.cwd for target in (whole, part, example)} == {tmp_path}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"nbformat": 4,\n "cells": [', "it is a damaged notebook: its JSON is invalid in line 2"),
        ("[" * 100_000, "it is a damaged notebook"),
        (b"\xff\xfe{\0}\0", "it is a damaged notebook: it is not in UTF-8"),
        ("[]", "it is a damaged notebook without a format version"),
        (notebook("x", cells={}), "it is a damaged notebook without a list of cells"),
        (notebook(["x", 1]), "it is a damaged notebook with a cell whose source is not text"),
        (notebook("x", nbformat=3), "it is a notebook in the old format 3: save it again in Jupyter"),
        (notebook("x", nbformat=5), "it is a notebook in format 5, newer than this Fullgraph supports"),
        (notebook(), "it is a notebook without code cells"),
        (
            notebook("x", metadata={"kernelspec": {"language": "julia"}}),
            "it is a notebook in julia, and only Python can be run",
        ),
        (
            notebook("x", metadata={"language_info": {"name": "R"}}),
            "it is a notebook in R, and only Python can be run",
        ),
    ],
)
def test_what_is_no_program_is_told_in_a_sentence(
    content: Any, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, content)
    assert read_source(path) is None
    assert unreadable(path).startswith(why)
    result = fullgraph("check", "model.ipynb")
    assert result.exit_code == 2
    assert f"Error: model.ipynb cannot be read: {why}" in result.stderr
    assert "Traceback" not in result.stderr


def test_what_is_too_large_because_of_its_outputs_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "_MOST_BYTES", 1 << 20)
    outputs = [{"output_type": "stream", "name": "stdout", "text": "x" * (1 << 20)}]
    content = notebook("x = 1")
    content["cells"][1]["outputs"] = outputs
    assert unreadable(write(tmp_path, content)) == "it is larger than 1 MiB: clear its outputs"


def test_a_cell_in_another_language_is_told_unless_a_magic_says_so(tmp_path: Path) -> None:
    content = notebook("x = 1", "%%js\nalert()", "puts 1")
    for cell, language in ((3, "javascript"), (5, "ruby")):
        content["cells"][cell]["metadata"] = {"vscode": {"languageId": language}}
    assert unreadable(write(tmp_path, content)) == "its code cell 3 is in ruby, and only Python can be run"


def test_a_cell_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, notebook(*CELLS))
    result = fullgraph("check", "model.ipynb::5")
    assert "model.ipynb has no code cell 5: they are numbered 1 to 4" in result.stderr


def test_a_fix_is_written_into_its_cells(tmp_path: Path) -> None:
    content = notebook(*CELLS[:3], [CELLS[3]])
    path = write(tmp_path, content)
    source = read_source(path)
    assert source is not None
    ran = source.until(3)
    after = ran.text.replace("import torch", "import torch\n\nX = 1").replace("return x", "return -x")
    write_texts({path: (ran.text, after)})
    written = Path(path).read_text()
    content["cells"][1]["source"] = "%matplotlib inline\nimport torch\n\nX = 1"
    content["cells"][5]["source"] = CELLS[2].replace("return x", "return -x")
    assert json.loads(written) == content
    assert written == json.dumps(content, indent=1) + "\n"
    with pytest.raises(UnwritableError, match="has changed since it was read"):
        write_texts({path: (ran.text, after)})


def test_a_byte_order_mark_and_line_ends_of_the_file_stay(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + json.dumps(notebook("x = 1"), indent=1).replace("\n", "\r\n").encode()
    path = write(tmp_path, data)
    source = read_source(path)
    assert source is not None
    write_texts({path: (source.text, "x = 2")})
    assert Path(path).read_bytes() == data.replace(b"x = 1", b"x = 2")


def test_what_the_parser_says_of_a_line_is_said_of_its_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, notebook("import torch", "x = 1\nif x:\ny = 2"))
    said = "IndentationError: expected an indented block after 'if' statement on line 3"
    problem = TargetProblem("error", said, stack=(StackFrame(path, 4, "<module>"),))
    fake_runs(monkeypatch).facts = (problem,)
    text = fullgraph("check", "model.ipynb").stdout
    assert f"model.ipynb:cell 2:3:1 error target-error {said.replace('line 3', 'line 2 of cell 2')}" in text


def test_every_format_tells_the_cell_and_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, notebook("import torch", "def f(x):\n    print(1)", "f(1)"))
    stack = (StackFrame(path, 4, "<module>"), StackFrame(path, 3, "f"))
    broke = GraphBreak("0/0", "GB0059", "broke", "", (), "", "", stack, False, "")
    fake_runs(monkeypatch).facts = (broke,)

    text = fullgraph("check", "model.ipynb").stdout
    assert "model.ipynb:cell 2:2:5 warning GB0059" in text
    assert " 2 |     print(1)" in text
    (found,) = json.loads(fullgraph("check", "model.ipynb", "--format", "json").stdout)["findings"]
    assert (found["cell"], found["location"]["row"], found["end_location"]["row"]) == (2, 2, 2)
    assert [(call["cell"], call["row"]) for call in found["stack"]] == [(3, 1), (2, 2)]
    log = json.loads(fullgraph("check", "model.ipynb", "--format", "sarif").stdout)
    (result,) = log["runs"][0]["results"]
    (location,) = result["locations"]
    assert location["logicalLocations"] == [{"name": "cell 2", "kind": "cell"}]
    assert location["physicalLocation"]["region"]["startLine"] == 2
    assert result["stacks"][0]["frames"][1]["location"]["logicalLocations"][0]["name"] == "cell 3"
    command = fullgraph("check", "model.ipynb", "--format", "github").stdout
    assert "file=model.ipynb,line=2," in command
    assert "title=fullgraph GB0059 in cell 2::" in command
