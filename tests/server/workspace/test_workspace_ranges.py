"""Ranges: from rows and byte columns to what is underlined."""

from __future__ import annotations

import ast
import textwrap

import pytest
from fullgraph_compiler.facts import StackFrame
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.ranges import definition_span, frame_span, name_span, passed_as
from fullgraph_server.workspace.source import SourceFile

pytestmark = pytest.mark.portable


def source(text: str) -> SourceFile:
    return SourceFile("/w/a.py", textwrap.dedent(text).lstrip("\n"))


def underlined(file: SourceFile, span: Span | None) -> str:
    """The text of a range, rows joined by a bar."""
    assert span is not None
    if span.row == span.end_row:
        return file.line(span.row)[span.column - 1 : span.end_column - 1]
    inner = [file.line(row) for row in range(span.row + 1, span.end_row)]
    first, last = file.line(span.row)[span.column - 1 :], file.line(span.end_row)[: span.end_column - 1]
    return "|".join([first, *inner, last])


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("x = 1\ny = f(x)  # note\n", 2, "y = f(x)"),
        ("if a.sum() < 0:\n    b()\n", 1, "a.sum() < 0"),
        ("if a:\n    b()\nelif c > 1:\n    d()\n", 3, "c > 1"),
        ("if a:\n    b()\nelse:\n    d()\n", 4, "d()"),
        ("if a:\n    b()\nelse:\n    d()\n", 3, "else:"),
        ("while f(x):\n    b()\n", 1, "f(x)"),
        ("for i in range(3):\n    b()\n", 1, "range(3)"),
        ("with a() as b, c():\n    d()\n", 1, "a() as b, c()"),
        ("with a() as b, c() as (d, e):\n    d()\n", 1, "a() as b, c() as (d, e)"),
        ("@wrap\ndef f(x):\n    return x\n", 2, "f"),
        ("@wrap(1)\ndef f(x):\n    return x\n", 1, "wrap(1)"),
        ("class Net:\n    async  def go(self):\n        pass\n", 2, "go"),
        ("class Net:\n    async  def go(self):\n        pass\n", 1, "Net"),
        ("try:\n    a()\nexcept E:\n    b()\nfinally:\n    c()\n", 4, "b()"),
        ("try:\n    a()\nexcept E:\n    b()\n", 3, "except E:"),
        ("match x:\n    case 1:\n        b()\n", 1, "x"),
        ("match x:\n    case 1:\n        b()\n", 3, "b()"),
        ("if a: b()\n", 1, "if a: b()"),
        ("y = f(\n    g(1),\n    h(2),\n)\n", 3, "h(2)"),
        ("y = f(\n    g(1),\n)\n", 1, "y = f(|    g(1),|)"),
        ("def f(:\n    print(1)  \n", 2, "print(1)"),
        ("x = 1\n", 9, ""),
    ],
)
def test_a_row_alone_gives_the_statement_or_its_header(text: str, row: int, expected: str) -> None:
    file = SourceFile("/w/a.py", text)
    assert underlined(file, frame_span(file, StackFrame("/w/a.py", row, "f"))) == expected


def test_byte_columns_become_characters() -> None:
    file = source("größe = 'ü' + f(x)\n")
    line = file.line(1)
    start = len(line[: line.index("f(x)")].encode())
    frame = StackFrame("/w/a.py", 1, "f", start, 1, start + 4)
    assert underlined(file, frame_span(file, frame)) == "f(x)"
    assert frame_span(file, frame).column == line.index("f(x)") + 1


def test_the_end_row_that_torch_left_out_is_found_in_the_tree() -> None:
    file = source(
        """
        y = f(
            g(1),
        ) + 2
        """
    )
    assert underlined(file, frame_span(file, StackFrame("/w/a.py", 1, "f", 4, None, 1))) == "f(|    g(1),|)"


def test_a_range_on_one_row_is_preferred() -> None:
    file = source("y = f(x)(\n  )\n")
    assert underlined(file, frame_span(file, StackFrame("/w/a.py", 1, "f", 4, None, 8))) == "f(x)"


def test_columns_that_match_no_node_are_used_as_they_are() -> None:
    file = source("for i in xs: pass\n")
    assert underlined(file, frame_span(file, StackFrame("/w/a.py", 1, "f", 4, None, 8))) == "i in"


def test_columns_around_a_whole_function_give_its_name() -> None:
    file = source("def f(x):\n    return x\n")
    assert underlined(file, frame_span(file, StackFrame("/w/a.py", 1, "m", 0, 2, 12))) == "f"
    assert underlined(file, frame_span(file, StackFrame("/w/a.py", 1, "m", 0, None, 12))) == "f"


def test_senseless_columns_fall_back_to_the_statement() -> None:
    file = source("x = 1\n")
    assert underlined(file, frame_span(file, StackFrame("/w/a.py", 1, "f", 50, None, 2))) == "x = 1"


def test_without_a_source_the_range_is_empty_on_its_row() -> None:
    assert frame_span(None, StackFrame("/w/b.py", 7, "f", 3, 7, 9)) == Span("/w/b.py", 7, 1, 7, 1)


NAMES = source(
    """
    def f(self, a: Tensor, b=None):
        x = a / (torch.abs(a) + self.scale)
        y = self.layers[0](
            b,
        )
        if a.sum() < x:
            return y
    """
)


@pytest.mark.parametrize(
    ("row", "name", "expected"),
    [
        (2, "a", (2, "a")),
        (2, "self.scale", (2, "self.scale")),
        (2, "self.scale.data", (2, "self.scale")),
        (3, "self.layers[0].weight", (3, "self.layers[0]")),
        (3, "self.layers[1].weight", (3, "self.layers")),
        (3, "b", (4, "b")),
        (4, "b", (4, "b")),
        (1, "a", (1, "a")),
        (1, "b", (1, "b")),
        (6, "x", (6, "x")),
    ],
)
def test_a_name_is_found_on_its_line(row: int, name: str, expected: tuple[int, str]) -> None:
    span = name_span(NAMES, row, name)
    assert span is not None
    assert (span.row, underlined(NAMES, span)) == expected


@pytest.mark.parametrize(("row", "name"), [(2, "b"), (6, "y"), (1, "x"), (99, "a"), (2, "")])
def test_a_name_that_does_not_stand_there_is_not_found(row: int, name: str) -> None:
    assert name_span(NAMES, row, name) is None


def test_definitions_are_found_from_their_first_decorator() -> None:
    file = source(
        """
        @a
        @b
        def f(x):
            def f(y):
                return y
            return f
        """
    )
    assert underlined(file, definition_span(file, "/w/a.py", 1, "f")) == "f"
    assert definition_span(file, "/w/a.py", 1, "f").row == 3
    assert definition_span(file, "/w/a.py", 4, "f").row == 4


@pytest.mark.parametrize(
    ("definition", "call", "item", "length", "name"),
    [
        ("def f(*args): ...", "f(images, self.labels)", "args[1]", 2, "self.labels"),
        ("def f(first, *args): ...", "f(images, labels)", "args[0]", 1, "labels"),
        ("def f(self, *inputs): ...", "model(images, labels)", "inputs[0]", 2, "images"),
        ("def f(*args): ...", "net.fast(batch)", "args[1]", 2, "batch"),
        ("def f(*args): ...", "step()", "args[0]", 1, ""),
        ("def f(*args): ...", "f(*pair)", "args[0]", 2, ""),
        ("def f(*args): ...", "f(images.cos(), labels)", "args[0]", 2, ""),
        ("def f(**kwargs): ...", "f(mask=pad)", "kwargs['mask']", 0, "pad"),
        ("def f(**kwargs): ...", "f(**options)", "kwargs['mask']", 0, ""),
        ("def f(x): ...", "f(images)", "x[0]", 0, ""),
    ],
)
def test_what_a_caller_passes_as_an_item_of_args(
    definition: str, call: str, item: str, length: int, name: str
) -> None:
    (function,) = ast.parse(definition).body
    node = ast.parse(call, mode="eval").body
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(node, ast.Call)
    assert passed_as(node, function, item, length) == name
