"""Edits applied to texts, and proven texts written into files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from fullgraph_server.fixes.editing import ReplacedBlock, edited, is_across, replaced
from fullgraph_server.fixes.model import Edit
from fullgraph_server.fixes.widening import replaced_widely
from fullgraph_server.fixes.words import unified_diff
from fullgraph_server.fixes.writing import UnwritableError, write_texts
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile, read_source

FILE = "/w/model.py"
TEXT = """import torch


def f(x, y):
    # why
    if x.sum() > 0:
        y = y * 2
    else:
        y = -y
    for _ in range(2):
        a = 1; b = x.item()
    return y
    # comment
"""


def edit(row: int, column: int, end_row: int, end_column: int, text: str) -> Edit:
    return Edit(Span(FILE, row, column, end_row, end_column), text)


def test_edits_are_made_where_they_are_and_nowhere_else() -> None:
    edits = [edit(6, 8, 6, 15, "c"), edit(1, 1, 1, 1, "import math\n"), edit(12, 12, 12, 13, "x")]
    after = edited(SourceFile(FILE, TEXT), edits)
    assert after == "import math\n" + TEXT.replace("x.sum()", "c").replace("return y", "return x")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_of_other_systems_are_counted_as_they_are(end: str) -> None:
    source = SourceFile(FILE, "a = 1\nb = 'é\u2028'\nc = 3\n".replace("\n", end))
    after = edited(source, [edit(3, 5, 3, 6, "4"), edit(2, 5, 2, 9, "2")])
    assert after == "a = 1\nb = 2\nc = 4\n".replace("\n", end)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([edit(7, 13, 7, 18, "3")], [ReplacedBlock(7, 7, "        y = 3\n")]),
        ([edit(6, 5, 9, 15, "y = -y")], [ReplacedBlock(6, 9, "    y = -y\n")]),
        ([edit(6, 1, 10, 1, "    y = -y\n")], [ReplacedBlock(6, 9, "    y = -y\n")]),
        ([edit(11, 20, 11, 28, "x")], [ReplacedBlock(11, 11, "        a = 1; b = x\n")]),
        ([edit(11, 1, 13, 1, "        a = 1\n    return y + x\n")], [
            ReplacedBlock(10, 12, "    for _ in range(2):\n        a = 1\n    return y + x\n"),
        ]),
        ([edit(12, 1, 14, 1, "    return x\n")], [ReplacedBlock(12, 12, "    return x\n")]),
        ([edit(1, 1, 1, 1, "import math\n")], []),
        ([edit(6, 8, 6, 9, "z"), edit(12, 12, 12, 13, "x")], [
            ReplacedBlock(6, 9, TEXT[TEXT.index("    if") : TEXT.index("    for")].replace("x.sum", "z.sum")),
            ReplacedBlock(12, 12, "    return x\n"),
        ]),
    ],
    ids=[
        "arm", "branch", "whole lines", "two statements of a line", "end of a block",
        "a comment behind", "import", "two places",
    ],
)  # fmt: skip
def test_what_edits_replace_are_the_innermost_whole_statements(
    edits: list[Edit], expected: list[ReplacedBlock]
) -> None:
    assert replaced(SourceFile(FILE, TEXT), edits) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (edit(4, 1, 9, 1, "def f(x, z):\n    if z:\n        y = z\n    else:\n"), True),
        (edit(12, 1, 13, 1, "    return x\n\n\ndef g():\n    pass\n"), False),
        (edit(4, 1, 13, 1, ""), False),
        (edit(4, 1, 13, 1, "def f(x, y):\n    return x\n"), True),
        (edit(4, 1, 5, 1, "def f(x, y, z):\n"), False),
    ],
    ids=["signature and body", "a function behind", "removed", "replaced", "signature"],
)
def test_an_edit_of_a_function_and_its_surroundings_is_found(change: Edit, expected: bool) -> None:
    assert is_across(SourceFile(FILE, TEXT), change) is expected


def test_of_an_edit_of_signature_and_body_the_whole_body_is_tried() -> None:
    text = "def f(x, z):\n    # why\n    if z:\n        y = z\n    else:\n"
    (found,) = replaced_widely(SourceFile(FILE, TEXT), [edit(4, 1, 9, 1, text)])
    rest = "        y = -y\n    for _ in range(2):\n        a = 1; b = x.item()\n    return y\n"
    assert found == ReplacedBlock(6, 12, f"    if z:\n        y = z\n    else:\n{rest}")


def test_files_keep_their_line_ends_their_mark_and_their_encoding(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_bytes("\ufeff# é\r\na = 1\nb = 2\r\n".encode())
    os.chmod(path, 0o640)
    write_texts({str(path): _changed(path, "a = 1\n", "a = 1\nc = 3\n")})
    assert path.read_bytes() == "\ufeff# é\r\na = 1\nc = 3\r\nb = 2\r\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640

    path.write_bytes("# -*- coding: latin-1 -*-\n# é\na = 1\n".encode("latin-1"))
    write_texts({str(path): _changed(path, "a = 1", "a = 'ü'")})
    assert path.read_bytes() == "# -*- coding: latin-1 -*-\n# é\na = 'ü'\n".encode("latin-1")


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text("a = 1\n")
    link = tmp_path / "link.py"
    link.symlink_to("real.py")
    write_texts({str(link): _changed(link, "1", "2")})
    assert link.is_symlink()
    assert (tmp_path / "real.py").read_text() == "a = 2\n"


def test_nothing_is_written_if_one_file_has_changed(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("a = 1\n")
    second.write_text("b = 1\n")
    texts = {str(path): _changed(path, "1", "2") for path in (first, second)}
    second.write_text("b = 3\n")
    with pytest.raises(UnwritableError, match=r"second.py has changed .*: nothing was written"):
        write_texts(texts)
    assert (first.read_text(), second.read_text()) == ("a = 1\n", "b = 3\n")


def test_a_character_that_the_encoding_lacks_is_told(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_bytes(b"# -*- coding: latin-1 -*-\na = 1\n")
    with pytest.raises(UnwritableError, match="lacks a character"):
        write_texts({str(path): _changed(path, "1", "'\u2192'")})
    assert path.read_bytes() == b"# -*- coding: latin-1 -*-\na = 1\n"


def test_a_diff_is_one_that_git_applies(tmp_path: Path) -> None:
    name = str(tmp_path / "pkg" / "model.py")
    lines = list(unified_diff({name: ("a = 1\nb = 2\n", "a = 1\nb = 3\n")}, str(tmp_path)))
    assert lines == [
        "--- a/pkg/model.py",
        "+++ b/pkg/model.py",
        "@@ -1,2 +1,2 @@",
        " a = 1",
        "-b = 2",
        "+b = 3",
    ]


def _changed(path: Path, old: str, new: str) -> tuple[str, str]:
    source = read_source(str(path))
    assert source is not None
    return source.text, source.text.replace(old, new)
