"""Where the lines of an earlier text are in a later one."""

from __future__ import annotations

import itertools
import random

import pytest
from fullgraph_server.workspace.drift import MovedSpan, TextDrift
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile

pytestmark = pytest.mark.portable

FILE = "/w/model.py"

TEXT = """\
import torch

def first(x):
    y = x + 1
    return y

def second(x):
    z = x * 2
    return z
"""

MOVED = """\
import torch

def second(x):
    z = x * 2
    return z

def first(x):
    y = x + 1
    return y
"""


def source(text: str) -> SourceFile:
    return SourceFile(FILE, text)


def drift(after: str, before: str = TEXT) -> TextDrift:
    return TextDrift(source(before), source(after))


def fate(found: TextDrift, before: str = TEXT) -> list[str]:
    """What became of each line but the blank ones: ``3`` for one at row 3, ``~3`` edited, ``-`` deleted."""
    marks = {"same": "", "edited": "~"}
    lines = enumerate(before.splitlines(), 1)
    fates = [found.line(row) for row, line in lines if line.strip()]
    return ["-" if change == "deleted" else f"{marks[change]}{row}" for row, change in fates]


@pytest.mark.parametrize(
    ("name", "after", "fates"),
    [
        ("nothing", TEXT, "1 3 4 5 7 8 9"),
        ("insert above", "# note\n\n" + TEXT, "3 5 6 7 9 10 11"),
        ("insert between", TEXT.replace("def second", "# note\ndef second"), "1 3 4 5 8 9 10"),
        ("append", TEXT + "# note\n", "1 3 4 5 7 8 9"),
        ("edit in place", TEXT.replace("x + 1", "x + 2"), "1 3 ~4 5 7 8 9"),
        (
            "edit far apart",
            TEXT.replace("import torch", "import os").replace("x * 2", "x"),
            "~1 3 4 5 7 ~8 9",
        ),
        ("delete", TEXT.replace("    y = x + 1\n", ""), "1 3 - 4 6 7 8"),
        ("empty a line", TEXT.replace("    y = x + 1\n", "    \n"), "1 3 - 5 7 8 9"),
        ("delete all", "", "- - - - - - -"),
        ("replace all", "class Other:\n    pass\n", "~1 ~2 - - - - -"),
        ("no end of line", TEXT.rstrip(), "1 3 4 5 7 8 9"),
        ("CRLF", TEXT.replace("\n", "\r\n"), "1 3 4 5 7 8 9"),
        ("trailing blanks", TEXT.replace("import torch", "import torch  "), "1 3 4 5 7 8 9"),
        (
            "trailing blanks and an edit",
            TEXT.replace("\n\n", "  \n\n").replace("y = ", "w = "),
            "1 3 ~4 5 7 8 9",
        ),
        (
            "edit two of three",
            TEXT.replace("    y = x + 1\n    return y", "    return x + 1"),
            "1 3 ~4 - 6 7 8",
        ),
        ("split", TEXT.replace("y = x + 1", "w = x\n    y = w + 1"), "1 3 ~4 6 8 9 10"),
        (
            "indent",
            TEXT.replace("    y = x + 1\n    return y", "    with a:\n        y = x + 1\n        return y"),
            "1 3 ~5 ~6 8 9 10",
        ),
        ("move a block", MOVED, "1 - - - 3 4 5"),
        ("non-ASCII", TEXT.replace("x + 1", "größe😀 + 1"), "1 3 ~4 5 7 8 9"),
    ],
)
def test_every_line_has_its_fate(name: str, after: str, fates: str) -> None:  # noqa: ARG001
    assert " ".join(fate(drift(after))) == fates


def test_non_ascii_lines_are_the_same() -> None:
    before = 'täst = "😀é"\nx = 1\n'
    assert fate(drift("# größe\n" + before, before), before) == ["2", "3"]


def test_undoing_an_edit_brings_everything_back() -> None:
    ran, spans = source(TEXT), [Span(FILE, row, 5, row, 9) for row in range(1, 10)]
    assert TextDrift(ran, source("x" + TEXT.replace("y = x", "x"))).span(spans[3]).change == "edited"
    undone = TextDrift(ran, source(TEXT))
    assert [undone.span(span) for span in spans] == [MovedSpan(span, "same") for span in spans]


@pytest.mark.parametrize(
    ("after", "moved"),
    [
        (TEXT, MovedSpan(Span(FILE, 4, 5, 5, 13), "same")),
        ("\n" + TEXT, MovedSpan(Span(FILE, 5, 5, 6, 13), "same")),
        (TEXT.replace("x + 1", "x - 1"), MovedSpan(Span(FILE, 4, 5, 4, 14), "edited")),
        (
            TEXT.replace("    return y", "    # note\n    return y"),
            MovedSpan(Span(FILE, 4, 5, 4, 14), "edited"),
        ),
        (TEXT.replace("    y = x + 1\n", ""), MovedSpan(Span(FILE, 4, 5, 4, 13), "edited")),
        (TEXT.replace("    y = x + 1\n    return y\n", ""), MovedSpan(Span(FILE, 4, 1, 4, 1), "deleted")),
    ],
)
def test_a_span_of_several_lines_is_the_same_only_as_a_whole(after: str, moved: MovedSpan) -> None:
    assert drift(after).span(Span(FILE, 4, 5, 5, 13)) == moved


def test_an_edited_line_is_marked_from_its_first_character_to_its_last() -> None:
    after = TEXT.replace("    y = x + 1\n", "  größe = x  \n")
    assert drift(after).span(Span(FILE, 4, 9, 4, 10)) == MovedSpan(Span(FILE, 4, 3, 4, 12), "edited")


def test_the_files_start_stands_for_the_file() -> None:
    whole = Span(FILE, 1, 1, 1, 1)
    for after in ("\n\n" + TEXT, TEXT.replace("import", "from"), ""):
        assert drift(after).span(whole) == MovedSpan(whole, "same")


def test_of_an_unknown_text_everything_stays() -> None:
    span = Span(FILE, 40, 1, 41, 5)
    for found in (TextDrift(None, source(TEXT)), TextDrift(source(TEXT), None)):
        assert (found.span(span), found.line(40), found.earlier(40)) == (
            MovedSpan(span, "same"),
            (40, "same"),
            40,
        )


@pytest.mark.parametrize("seed", range(30))
def test_any_edits_keep_the_lines_apart_and_in_order(seed: int) -> None:
    chance = random.Random(seed)
    words = ["", "x = 1", "y = x", "    return y", *(f"line {number}" for number in range(20))]
    before = chance.choices(words, k=chance.randrange(60))
    after = list(before)
    for _ in range(chance.randrange(8)):
        first = chance.randrange(len(after) + 1)
        after[first : first + chance.randrange(6)] = chance.choices(words, k=chance.randrange(6))
    found = drift("\n".join(after), "\n".join(before))
    fates = [(row, *found.line(row)) for row in range(1, len(before) + 1)]
    same = [(row, now) for row, now, change in fates if change == "same"]
    assert all(before[row - 1] == after[now - 1] for row, now in same)
    assert all(one < other for (_, one), (_, other) in itertools.pairwise(same))
    assert [found.earlier(now) for _, now in same] == [row for row, _ in same]
    taken = [now for _, now, change in fates if change != "deleted"]
    assert len(set(taken)) == len(taken), "a line comes from one line"
    new = set(range(1, len(after) + 1)) - {now for _, now in same}
    assert {found.earlier(row) for row in new} <= {None}


def test_the_old_rows_of_new_lines_are_those_that_they_replaced() -> None:
    before, after = (SourceFile(FILE, text) for text in ("a\nb\nc\nd\n", "a\nB\nB2\nB3\nd\nnew\n"))
    drift = TextDrift(before, after)
    rows = [[*drift.replaced(row)] for row in range(1, 7)]
    assert rows == [[1], [2, 3], [2, 3], [2, 3], [4], []]
