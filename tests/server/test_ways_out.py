"""What is tried against errors and breaks, as edits of the program."""

from __future__ import annotations

import ast
from dataclasses import replace
from textwrap import dedent

import pytest
from fixing import FILE, span_of
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.model import Context
from fullgraph_server.fixes.rules.ways_out import WayOut, unwrapped, ways_out
from fullgraph_server.report.model import Compilation, Finding, FindingKind, Report
from fullgraph_server.workspace.positions import Call, Span
from fullgraph_server.workspace.source import SourceFile

PROGRAM = dedent("""
    import torch
    import torch.export
    from torch.export import Dim

    torch._dynamo.config.specialize_int = True

    def inner(x):
        return strange(x)

    @torch.compile(fullgraph=True)
    def outer(x):
        def within(y):
            return inner(y)
        return within(x)

    outer(torch.ones(3))
""").lstrip()


def offered(
    text: str,
    at: str,
    kind: FindingKind = "capture-error",
    stack: tuple[tuple[str, str], ...] = (),
    **changes: object,
) -> dict[str, str]:
    """What is tried against an error at a text, with the program that it makes; ``stack`` has functions."""
    source = SourceFile(FILE, text)
    calls = tuple(Call(FILE, span_of(source, where).row, function) for where, function in stack)
    finding = Finding(
        kind, kind, "error", "it failed", span_of(source, at), stack=calls, compile_ids=frozenset({"0/0"})
    )
    compilation = Compilation("0/0", "outer", Span(FILE, 1, 1, 1, 1), 0.0, 0.0, "")
    report = Report(FILE, 1, compilations=(compilation,))
    ways = ways_out(replace(finding, **changes), Context(report, {FILE: source}))  # type: ignore[arg-type]
    return {way.change: written(source, way) for way in ways}


def written(source: SourceFile, way: WayOut) -> str:
    text = edited(source, way.edits)
    ast.parse(text)
    return text


STACK = (
    ("outer(torch", "<module>"),
    ("return within", "outer"),
    ("return inner", "within"),
    ("return strange", "inner"),
)


def test_functions_of_the_stack_are_kept_out_of_graphs_and_the_compiled_one_is_not() -> None:
    tried = offered(PROGRAM, "strange(x)", stack=STACK)
    disabled = [change for change in tried if "torch.compiler.disable" in change]
    (change,) = disabled  # not `within`, which compiled code defines, nor `outer`
    assert change == "With `@torch.compiler.disable` above `inner` (line 7) and without `fullgraph=True`"
    assert "@torch.compiler.disable\ndef inner(x):" in tried[change]
    assert "@torch.compile(fullgraph=False)" in tried[change]


def test_options_and_settings_are_left_out() -> None:
    tried = offered(PROGRAM, "strange(x)")
    assert "@torch.compile(fullgraph=False)" in tried["Without `fullgraph=True` (line 10)"]
    default = tried["Without `torch._dynamo.config.specialize_int = True` (line 5)"]
    assert "\npass\n" in default
    assert "fullgraph=True, dynamic=False" in tried["With `dynamic=False` (line 10)"]


def test_what_torch_names_is_set_first() -> None:
    hint = "Set `torch._dynamo.config.capture_func_transforms = True`."
    tried = offered(PROGRAM, "strange(x)", hints=(hint,))
    assert next(iter(tried)) == "With `torch._dynamo.config.capture_func_transforms = True`"


def test_a_break_that_is_no_error_is_edited_alone() -> None:
    text = (
        "import torch\n\n@torch.compile\ndef outer(x):\n    print(x)\n    return x\n\nouter(torch.ones(3))\n"
    )
    tried = offered(text, "print(x)", "graph-break", code="GB0059", severity="warning")
    assert all("print" in change for change in tried)
    assert "Without `fullgraph=True` (line 3)" not in tried
    assert offered(text, "print(x)", "recompile", severity="information") == {}


def test_an_error_of_a_break_is_edited_as_the_break() -> None:
    text = dedent("""
        import torch

        @torch.compile(fullgraph=True)
        def outer(x):
            y = x + 1
            if y.sum() > 0:
                y = y * 2
            return y
    """).lstrip()
    tried = offered(text, "y.sum() > 0", code="GB0170")
    assert (
        next(iter(tried))
        == "Choose with `torch.where`: with `y = torch.where(y.sum() > 0, y * 2, y)` (line 6)"
    )


@pytest.mark.parametrize(
    ("line", "change", "after"),
    [
        (
            "fast = torch.compile(net, mode='default')",
            "With `fast = net` and `net.compile(mode='default')` in place of line 2",
            "\nfast = net\nnet.compile(mode='default')\n",
        ),
        (
            "net = torch.compile(Net())",
            "With `net = Net()` and `net.compile()` in place of line 2",
            "\nnet = Net()\nnet.compile()\n",
        ),
        (
            "self.net = torch.compile(self.net)",
            "With `self.net.compile()` in place of line 2",
            "\nself.net.compile()\n",
        ),
    ],
)
def test_modules_are_compiled_in_place(line: str, change: str, after: str) -> None:
    assert after in offered(f"import torch\n{line}\nfailing()\n", "failing()", "target-error")[change]


def test_what_is_compiled_comes_back_as_it_is() -> None:
    source = SourceFile(FILE, "import torch\nfast = torch.compile(Net(), dynamic=True)\n")
    assert edited(source, unwrapped({FILE: source}).edits) == "import torch\nfast = (Net())\n"


@pytest.mark.parametrize(
    ("call", "change", "after"),
    [
        ("torch.export.export(net, (x,))", "With `strict=True` (line 3)", "(net, (x,), strict=True)"),
        ("torch.export.export(net, (x,), strict=True)", "With `strict=False` (line 3)", "strict=False)"),
        (
            "torch.export.export(net, (x,), dynamic_shapes=({0: torch.export.Dim('n')},))",
            "With `Dim.AUTO` in place of `torch.export.Dim('n')` (line 3)",
            "({0: torch.export.Dim.AUTO},))",
        ),
    ],
)
def test_exports_are_made_otherwise(call: str, change: str, after: str) -> None:
    text = f"import torch\n\n{call}\n"
    assert after in offered(text, call, "export-error")[change]


def test_marks_may_give_way() -> None:
    text = "import torch\n\ntorch._dynamo.mark_dynamic(x, 0, min=2, max=9)\nouter(x)\n"
    tried = offered(text, "outer(x)", hints=("Do not `mark_dynamic`.",))
    assert (
        "maybe_mark_dynamic(x, 0)" in tried["With `maybe_mark_dynamic` in place of `mark_dynamic` (line 3)"]
    )
    assert "mark_dynamic(x, 0)" in tried["With no `min` and `max` in `mark_dynamic` (line 3)"]


def test_operators_of_the_program_stay() -> None:
    text = dedent("""
        import torch

        @torch.library.custom_op("own::inner", mutates_args=())
        def inner(x: torch.Tensor) -> torch.Tensor:
            return strange(x)

        @torch.compile
        def outer(x):
            return inner(x)
    """).lstrip()
    stack = (("return inner", "outer"), ("return strange", "inner"))
    assert not any("disable" in change for change in offered(text, "strange(x)", stack=stack))


def test_only_settings_that_torch_has_are_made() -> None:
    source = SourceFile(FILE, PROGRAM)
    report = Report(FILE, 1)
    finding = Finding("compile-error", "compile-error", "error", "it failed", span_of(source, "strange(x)"))
    (known,) = [way for way in ways_out(finding, Context(report, {FILE: source})) if way.parts]
    for part in known.parts:
        name = part.names[0]
        config, _, option = name.rpartition(".")
        assert f"if hasattr({config}, '{option}'): {name} = " in written(source, part)
    assert all(edit in known.edits for part in known.parts for edit in part.edits)
