"""Example calls: comments above a thing, and the examples of its docstring."""

from __future__ import annotations

import textwrap

import pytest
from fullgraph_compiler.facts import Example, ExampleCall, GivenValue
from fullgraph_server.workspace.examples import FileExamples, find_examples, unknown_names
from fullgraph_server.workspace.source import SourceFile

pytestmark = pytest.mark.portable


def found(text: str) -> FileExamples:
    return find_examples(SourceFile("/w/a.py", textwrap.dedent(text).lstrip("\n")))


def test_comments_above_decorators_are_calls_in_sequence() -> None:
    result = found(
        """
        import torch

        # The toy of the guide.
        # fullgraph: toy(f32[10], f32[10])
        # fullgraph: toy(f32[12], f32[12])
        @torch.compile
        def toy(a, b):
            return a + b
        """
    )
    calls = (ExampleCall("toy(f32[10], f32[10])", 4, 13), ExampleCall("toy(f32[12], f32[12])", 5, 13))
    assert result == FileExamples((Example("toy", calls),))


def test_methods_classes_and_what_stands_in_an_if_are_named_as_they_are_reached() -> None:
    result = found(
        """
        # fullgraph: Block(d=64)(f32[2, 64])
        class Block:
            # fullgraph: Block(64).step(f32[2])
            def step(self, x):
                ...

            class Inner:
                # fullgraph: Block.Inner()()
                def __call__(self): ...
        if True:
            #fullgraph:   f()
            async def f(): ...
        """
    )
    assert [example.qualname for example in result.examples] == [
        "Block",
        "Block.step",
        "Block.Inner.__call__",
        "f",
    ]
    assert result.examples[1].calls == (ExampleCall("Block(64).step(f32[2])", 3, 17),)
    assert result.examples[3].calls == (ExampleCall("f()", 11, 18),)
    assert result.problems == ()


def test_a_comment_between_decorators_counts() -> None:
    result = found("@a\n# fullgraph: f(1)\n@b\n# fullgraph: f(2)\ndef f(x): ...\n")
    assert [call.source for call in result.examples[0].calls] == ["f(1)", "f(2)"]


def test_columns_are_bytes() -> None:
    result = found("class Ü:\n    # fullgraph:\u00a0f('é')\n    def f(x): ...\n")
    call = result.examples[0].calls[0]
    assert (call.source, call.row, call.column) == ("f('é')", 2, len("    # fullgraph:\u00a0".encode()))


def test_a_call_that_does_not_parse_is_a_problem_with_its_place() -> None:
    result = found("# fullgraph: f(1\n# fullgraph: f(2)\n# fullgraph:\n# fullgraph: x = 1\ndef f(x): ...\n")
    assert [call.source for call in result.examples[0].calls] == ["f(2)"]
    assert [problem.span.row for problem in result.problems] == [1, 3, 4]
    assert result.problems[0].message.startswith("example call is not an expression: ")
    assert result.problems[1].message == "example call is empty"
    assert (result.problems[0].span.column, result.problems[0].span.end_column) == (1, 17)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("f(1) where item@12 = 3, nonzero@14=5 ", (("item", 12, 3), ("nonzero", 14, 5))),
        ("f(1)  where item@2 = -1.5", (("item", 2, -1.5),)),
        ("f(1) where item@2 = True", (("item", 2, True),)),
        ("f(torch.where(a, ' where '))", ()),
        ("f(' where ') where masked_select@3 = 0", (("masked_select", 3, 0),)),
    ],
)
def test_a_call_can_give_values(text: str, values: tuple[tuple[str, int, float], ...]) -> None:
    result = found(f"# fullgraph: {text}\ndef f(x): ...\n")
    assert result.problems == ()
    (call,) = result.examples[0].calls
    assert call.values == tuple(GivenValue(*value) for value in values)
    assert text.startswith(call.source)
    assert call.source.endswith(")")


@pytest.mark.parametrize("given", ["x@3 = 1", "item = 1", "nonzero@3 = 1.5", "item@3 = [1]", "item@3 = 1,"])
def test_a_given_value_that_cannot_be_read_is_a_problem(given: str) -> None:
    (problem,) = found(f"# fullgraph: f(1) where {given}\ndef f(x): ...\n").problems
    assert problem.message == (
        "write a given value as OPERATION@LINE = NUMBER, with one of `item`, `nonzero`, `masked_select`: "
        "`where item@12 = 3`"
    )


def test_a_comment_that_belongs_to_nothing_is_a_problem() -> None:
    result = found("# fullgraph: f(1)\n\ndef f(x):\n    # fullgraph: g(1)\n    def g(x): ...\n")
    assert result.examples == ()
    assert [problem.span.row for problem in result.problems] == [1, 4]


def test_a_trailing_comment_and_a_string_are_no_example_calls() -> None:
    result = found('x = 1  # fullgraph: f(1)\ny = """\n# fullgraph: f(2)\n"""\ndef f(x): ...\n')
    assert result == FileExamples()


DOCTEST = '''
def toy(a):
    """Adds.

    >>> a = torch.ones(3)
    >>> for n in (1, 2):
    ...     toy(a * n)
    tensor([2., 2., 2.])
    >>> toy(1)  # doctest: +SKIP
    """
'''


def test_all_examples_of_a_docstring_that_mentions_its_function_are_calls() -> None:
    calls = (
        ExampleCall("a = torch.ones(3)", 4, 8),
        ExampleCall("for n in (1, 2):\n    toy(a * n)", 5, 8),
    )
    assert found(DOCTEST).examples == (Example("toy", calls),)


def test_a_docstring_that_never_mentions_its_function_gives_no_calls() -> None:
    assert found(DOCTEST.replace("toy(a * n)", "toys(a * n)").replace("toy(1)", "1")) == FileExamples()


def test_a_docstring_that_doctest_cannot_read_is_a_problem() -> None:
    result = found('def f():\n    """\n    >>>f()\n    """\n')
    assert result.examples == ()
    assert [problem.span.row for problem in result.problems] == [2]


def test_a_file_that_does_not_parse_has_no_examples() -> None:
    assert found("# fullgraph: f()\ndef f(:\n") == FileExamples()


def names(call: str, text: str) -> list[tuple[str, int]]:
    source = SourceFile("/w/a.py", f"# fullgraph: {call}\n{text}")
    return [(problem.message.split("`")[1], problem.span.column) for problem in unknown_names(source)]


@pytest.mark.parametrize(
    ("call", "unknown"),
    [
        ("f(f32[8], n=SIZE)", []),
        ("f(f32[8], n=SIZES)", [("SIZES", 26)]),
        ("f(x)", [("x", 16)]),
        ("f('é', local)", [("local", 21)]),
        ("f(torch.ones(len([i for i in range(3)])), lambda a: a)", []),
        ("f((x := f32[8]), x)", []),
        ("f(late, np, __file__)", []),
        ("f(f32[8]) where item@4 = 3", []),
    ],
)
def test_a_name_that_the_file_does_not_define_is_a_problem(call: str, unknown: list[tuple[str, int]]) -> None:
    text = """\
def f(x, n=1):
    global late
    local = late = x

import numpy as np
if np:
    SIZE = 3
"""
    assert names(call, text) == unknown


@pytest.mark.parametrize("text", ["from a import *\n", "globals()['g'] = 1\n", "nonlocal a\n", "x = (\n"])
def test_where_names_can_come_about_in_another_way_nothing_is_unknown(text: str) -> None:
    assert names("f(g)", f"def f(x): ...\n{text}") == []


def test_a_name_of_an_earlier_call_is_known() -> None:
    assert names("f((x := f32[3]))\n# fullgraph: f(x, y)", "def f(x, y=1): ...\n") == [("y", 19)]


def test_docstrings_are_not_asked_for_their_names() -> None:
    source = SourceFile("/w/a.py", 'def f(x):\n    """\n    >>> f(anything)\n    """\n')
    assert unknown_names(source) == ()


def test_a_call_can_ask_for_an_export() -> None:
    result = found(
        """
        # fullgraph: export Block(64)(f32[2])
        # fullgraph: export 3
        # fullgraph: export(f32[2])
        class Block:
            ...
        """
    )
    assert result.examples[0].calls == (
        ExampleCall("Block(64)(f32[2])", 1, 20, export=True),
        ExampleCall("export(f32[2])", 3, 13),  # a function of this name
    )
    assert [problem.message for problem in result.problems] == [
        "`export` must be followed by a call: `export Block()(f32[8])`"
    ]
