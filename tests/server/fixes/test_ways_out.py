"""What is tried against errors and breaks, as edits of the program."""

from __future__ import annotations

import ast
from dataclasses import replace
from textwrap import dedent

import pytest
from fixing import FILE, span_of
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.model import RuleContext
from fullgraph_server.fixes.trying.ways_out import WayOut, unwrapped, ways_out
from fullgraph_server.kinds import FindingKind
from fullgraph_server.report.model import Finding, FrameCompilation, Report
from fullgraph_server.workspace.positions import Span, StackCall
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
    calls = tuple(StackCall(FILE, span_of(source, where).row, function) for where, function in stack)
    finding = Finding(
        kind, kind, "error", "it failed", span_of(source, at), stack=calls, compile_ids=frozenset({"0/0"})
    )
    compilation = FrameCompilation("0/0", "outer", Span(FILE, 1, 1, 1, 1), 0.0, 0.0, "")
    report = Report(FILE, 1, compilations=(compilation,), status="raised")
    ways = ways_out(replace(finding, **changes), RuleContext(report, {FILE: source}))  # type: ignore[arg-type]
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
    assert tried
    assert all("print" in change for change in tried)
    guarded = "with `if not torch.compiler.is_compiling():` and `print(x)` (line 5)"
    assert any(change.endswith(guarded) for change in tried)
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
            "With `fast = net` and `net.compile(mode='default')` instead of line 2",
            "\nfast = net\nnet.compile(mode='default')\n",
        ),
        (
            "net = torch.compile(Net())",
            "With `net = Net()` and `net.compile()` instead of line 2",
            "\nnet = Net()\nnet.compile()\n",
        ),
        (
            "self.net = torch.compile(self.net)",
            "With `self.net.compile()` instead of line 2",
            "\nself.net.compile()\n",
        ),
    ],
)
def test_modules_are_compiled_in_place(line: str, change: str, after: str) -> None:
    assert after in offered(f"import torch\n{line}\nfailing()\n", "failing()", "target-error")[change]


def test_what_is_compiled_comes_back_as_it_is() -> None:
    source = SourceFile(FILE, "import torch\nfast = torch.compile(Net(), dynamic=True)\n")
    assert edited(source, unwrapped({FILE: source}).edits) == "import torch\nfast = (Net())\n"
    text = "from torch import compile\n\n@compile(dynamic=True)\ndef f(x):\n    return x\n\ng = compile(f)\n"
    source = SourceFile(FILE, text)
    assert edited(source, unwrapped({FILE: source}).edits) == (
        "from torch import compile\n\n@(lambda it: it)\ndef f(x):\n    return x\n\ng = (f)\n"
    )


def test_each_of_several_calls_is_changed_by_itself_first() -> None:
    text = dedent("""
        import torch as t

        f = t.compile(one, fullgraph=True)
        g = t.compile(two, fullgraph=True)
        failing()
    """).lstrip()
    tried = offered(text, "failing()")
    first, second, both = (change for change in tried if change.startswith("Without `fullgraph"))
    assert first == "Without `fullgraph=True` (line 3)"
    assert second == "Without `fullgraph=True` (line 4)"
    assert both == "Without `fullgraph=True` (lines 3 and 4)"
    assert "one, fullgraph=False" in tried[first]
    assert "two, fullgraph=True" in tried[first]
    assert "one, fullgraph=False" in tried[both]
    assert "two, fullgraph=False" in tried[both]
    assert "With `dynamic=False` (lines 3 and 4)" in tried


def test_a_line_of_another_file_is_named_with_it() -> None:
    failing = SourceFile("/w/nets.py", "import torch\nstrange()\n")
    main = SourceFile("/w/main.py", "import torch\nf = torch.compile(g, fullgraph=True)\n")
    finding = Finding("capture-error", "capture-error", "error", "it failed", span_of(failing, "strange()"))
    report = Report(main.filename, 1)
    ways = ways_out(finding, RuleContext(report, {item.filename: item for item in (failing, main)}))
    assert "Without `fullgraph=True` (main.py:2)" in [way.change for way in ways]


def test_objects_of_the_program_are_no_settings_and_its_functions_no_modules() -> None:
    text = dedent("""
        import torch
        from torch._dynamo import config as chosen

        chosen.specialize_int = True
        self.config.verbose = True

        def f(x):
            return x

        fast = torch.compile(f)
        failing()
    """).lstrip()
    tried = offered(text, "failing()", "target-error")
    assert "Without `chosen.specialize_int = True` (line 4)" in tried
    assert not any("verbose" in change or "f.compile(" in change for change in tried)


def test_the_name_of_torch_is_that_of_the_program() -> None:
    text = PROGRAM.replace("import torch\n", "import torch as t\n", 1).replace("torch.compile(", "t.compile(")
    (change,) = [change for change in offered(text, "strange(x)", stack=STACK) if "disable" in change]
    assert change.startswith("With `@t.compiler.disable` above `inner`")


@pytest.mark.parametrize(
    ("call", "change", "after"),
    [
        ("torch.export.export(net, (x,))", "With `strict=True` (line 3)", "(net, (x,), strict=True)"),
        ("torch.export.export(net, (x,), strict=True)", "With `strict=False` (line 3)", "strict=False)"),
        (
            "torch.export.export(net, (x,), dynamic_shapes=({0: torch.export.Dim('n')},))",
            "With `Dim.AUTO` instead of the `Dim` of line 3",
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
    assert "maybe_mark_dynamic(x, 0)" in tried["With `maybe_mark_dynamic` instead of `mark_dynamic` (line 3)"]
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
    (known,) = [way for way in ways_out(finding, RuleContext(report, {FILE: source})) if way.parts]
    for part in known.parts:
        name = part.names[0]
        config, _, option = name.rpartition(".")
        assert f"if hasattr({config}, '{option}'): {name} = " in written(source, part)
    assert all(edit in known.edits for part in known.parts for edit in part.edits)


def test_compiles_within_compiles_are_one_edit() -> None:
    text = "import torch\nf = torch.compile(torch.compile(g), dynamic=True)\nfailing()\n"
    source = SourceFile(FILE, text)
    assert edited(source, unwrapped({FILE: source}).edits).splitlines()[1] == "f = (torch.compile(g))"
    assert "With `dynamic=False` (line 2)" in offered(text, "failing()")


def test_arguments_with_comments_get_one_more() -> None:
    text = "import torch\nf = torch.compile(\n    g,  # the function\n)\nfailing()\n"
    assert "g, dynamic=False,  # the function" in offered(text, "failing()")["With `dynamic=False` (line 2)"]


def test_a_second_variable_of_an_assignment_stays() -> None:
    text = "import torch\na = b = torch.compile(net)\nfailing()\n"
    assert not any("net.compile(" in change for change in offered(text, "failing()", "target-error"))


def test_lines_of_other_files_are_named_with_them() -> None:
    text = "import torch\n\n@torch.compile\ndef outer(x):\n    print(x)\n    return x\n"
    source = SourceFile("/w/nets.py", text)
    span = replace(span_of(source, "print(x)"), filename=source.filename)
    finding = Finding("graph-break", "GB0059", "warning", "it broke", span)
    (first, *_) = ways_out(finding, RuleContext(Report("/w/main.py", 1), {source.filename: source}))
    assert first.change.endswith("reorderable_logging_functions.add(print)` (line 2)")
