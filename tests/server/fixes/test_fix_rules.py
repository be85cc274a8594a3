"""The fixes of the catalogue: what each rule makes of a text, and what it leaves alone."""

from __future__ import annotations

import pytest
from fixing import FILE, body, fixes, results, span_of
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.model import RuleContext
from fullgraph_server.fixes.rules.catalogue import candidates
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.workspace.positions import StackCall
from fullgraph_server.workspace.source import SourceFile

HEAD = "import torch\n\n"


def test_print_waits_for_the_graph() -> None:
    text = HEAD + 'def f(x):\n    print("x", x)  # see\n    return x\n'
    got = results(text, 'print("x", x)', "GB0059")
    assert list(got) == ["reorder-print", "print-uncompiled", "print-operator", "remove-print"]
    assert got["reorder-print"] == text.replace(
        "import torch\n", "import torch\n\ntorch._dynamo.config.reorderable_logging_functions.add(print)\n", 1
    )
    guard = 'if not torch.compiler.is_compiling():\n        print("x", x)  # see'
    assert got["print-uncompiled"] == text.replace('print("x", x)  # see', guard)
    assert 'torch._higher_order_ops.print("x {}", x)  # see' in got["print-operator"]
    assert got["remove-print"] == HEAD + "def f(x):\n    return x\n"


def test_what_prints_is_told_and_compares_no_output() -> None:
    text = HEAD + "def f(x):\n    print(x)\n    return x\n"
    _, found = fixes(text, "print(x)", "GB0059")
    assert all(fix.prints_differ and not fix.replaces and fix.change.endswith(".") for fix in found)
    assert {fix.safety for fix in found} == {"unsafe"}
    assert "The setting stays on" in found[0].change


def test_print_as_the_only_statement_of_a_block_leaves_pass() -> None:
    text = HEAD + "def f(x, y):\n    if y: print(x)\n    return x\n"
    got = results(text, "print(x)", "GB0059")
    assert "    if y: pass\n" in got["remove-print"]
    assert "    if y: torch.compiler.is_compiling() or print(x)\n" in got["print-uncompiled"]


def test_print_among_semicolons() -> None:
    text = HEAD + "def f(x):\n    a = 1; print(x); b = 2\n    return x\n"
    assert "    a = 1; b = 2\n" in results(text, "print(x)", "GB0059")["remove-print"]


def test_the_name_of_torch_is_that_of_the_module() -> None:
    text = '"""Text."""\n\nfrom __future__ import annotations\n\nimport torch as th\n\n\n'
    text += "def f(x):\n    print(x)\n"
    assert "\nth._dynamo.config.reorderable" in results(text, "print(x)", "GB0059")["reorder-print"]
    text = '"""Text."""\n\nfrom torch import nn\n\n\ndef f(x):\n    print(x)\n'
    got = results(text, "print(x)", "GB0059")["reorder-print"]
    assert got.startswith('"""Text."""\n\nfrom torch import nn\nimport torch\n\ntorch._dynamo')


def test_a_logger_is_left_out_behind_its_definition() -> None:
    text = 'import logging\n\nimport torch\n\nLOG = logging.getLogger("a")\n\n\n'
    text += 'def f(x):\n    LOG.info("a")\n    return x\n'
    got = results(text, 'LOG.info("a")', "GB0291")
    line = 'LOG = logging.getLogger("a")\ntorch._dynamo.config.ignore_logging_functions.add(LOG.info)\n'
    assert line in got["ignore-logging"]
    assert "print-uncompiled" in got


def test_a_function_of_an_operator_returns_copies() -> None:
    text = HEAD + "def body(i, x):\n    return i + 1, x[:-1], x.view(-1)\n"
    got = results(text, "i + 1, x[:-1], x.view(-1)", "GB0040")
    assert got["fresh-result"] == text.replace("x[:-1], x.view(-1)", "x[:-1].clone(), x.view(-1).clone()")
    text = HEAD + "def f(x):\n    return torch.cond(x.any(), lambda t: t + 1, g, (x,))\n"
    assert results(text, "torch.cond(x.any(), lambda t: t + 1, g, (x,))", "GB0040") == {}


IF = [
    (
        """
        if x.sum() > 0:  # why
            x = x + 1
        """,
        "where",
        """
        # why
        x = torch.where(x.sum() > 0, x + 1, x)
        """,
    ),
    (
        """
        if x.sum() > 0:
            y = x + 1
        else:
            # the other
            y = -x
        x = y
        """,
        "where",
        """
        # the other
        y = torch.where(x.sum() > 0, x + 1, -x)
        x = y
        """,
    ),
    (
        """
        if x.sum() > 0:
            scale = 2.0
        else:
            scale = 1.0
        x = x * scale
        """,
        "where",
        """
        scale = torch.where(x.sum() > 0, 2.0, 1.0)
        x = x * scale
        """,
    ),
    (
        """
        if x.sum() > 0:
            x = x + 1
            z = x * 2
        else:
            z = x
        x = x + z
        """,
        "where",
        """
        taken = x.sum() > 0
        x_if = x + 1
        z_if = x_if * 2
        z_else = x
        x = torch.where(taken, x_if, x)
        z = torch.where(taken, z_if, z_else)
        x = x + z
        """,
    ),
    (
        """
        if x.sum() > 0:
            limit = x.max() - 1
            x = x.clamp(-limit, limit)
        """,
        "where",
        """
        limit = x.max() - 1
        x = torch.where(x.sum() > 0, x.clamp(-limit, limit), x)
        """,
    ),
    (
        """
        if x.sum() > 0: x = x + 1
        """,
        "where",
        """
        x = torch.where(x.sum() > 0, x + 1, x)
        """,
    ),
    (
        """
        if x.sum() > 0:
            x *= 2
        """,
        "where",
        """
        x.copy_(torch.where(x.sum() > 0, x * 2, x))
        """,
    ),
    (
        """
        if flag:
            x = x * 2
        elif x.sum() > 0:
            x = x + 1
        """,
        "where",
        """
        if flag:
            x = x * 2
        else:
            x = torch.where(x.sum() > 0, x + 1, x)
        """,
    ),
    (
        """
        if flag is not None and x.sum() > 0:
            x = x + 1
        """,
        "where",
        """
        if flag is not None:
            x = torch.where(x.sum() > 0, x + 1, x)
        """,
    ),
    (
        """
        if flag is not None and x.sum() > 0:
            x = x + 1
        """,
        "skip-when-compiling",
        """
        if not torch.compiler.is_compiling() and flag is not None and x.sum() > 0:
            x = x + 1
        """,
    ),
    (
        """
        if x.sum() > 0:
            return x + 1
        """,
        "where",
        """
        return torch.where(x.sum() > 0, x + 1, x)
        """,
    ),
    (
        """
        if x.sum() > 0:
            raise ValueError("bad")
        """,
        "assert-async",
        """
        torch._assert_async(torch.logical_not(x.sum() > 0), "bad")
        """,
    ),
    (
        """
        assert x.sum() > 0, "bad"
        """,
        "assert-async",
        """
        torch._assert_async(x.sum() > 0, "bad")
        """,
    ),
    (
        """
        y = x + 1 if x.sum() > 0 else x
        """,
        "where",
        """
        y = torch.where(x.sum() > 0, x + 1, x)
        """,
    ),
    (
        """
        if x.sum() > 0:
            x = flag(x)
        """,
        "where-layers",
        """
        x = torch.where(x.sum() > 0, flag(x), x)
        """,
    ),
    (
        """
        if x.sum() > 0:
            x = flag(x)
        """,
        "cond",
        """
        x = torch.cond(x.sum() > 0, lambda: flag(x), lambda: x.clone())
        """,
    ),
    (
        """
        for layer in flag:
            if x.sum() > 0:
                continue
            x = x + layer
        """,
        "where",
        """
        for layer in flag:
            x = torch.where(x.sum() > 0, x, x + layer)
        """,
    ),
    (
        """
        while x.sum() > 0:
            x = x - 1
        """,
        "while-loop",
        """
        (x,) = while_loop(lambda x: x.sum() > 0, lambda x: (x - 1,), (x,))
        """,
    ),
]


def function(statements: str) -> str:
    lines = [f"    {line}" for line in body(statements).splitlines()]
    return "\n".join(["def f(x, flag):", *lines, "    return x", ""])


@pytest.mark.parametrize(
    ("before", "rule", "after"), IF, ids=[f"{rule}-{i}" for i, (_, rule, _) in enumerate(IF)]
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_branch_on_data(before: str, rule: str, after: str, ending: str) -> None:
    text = (HEAD + function(before)).replace("\n", ending)
    expected = function(after)
    if after.strip().startswith("return"):
        expected = expected.replace("    return x\n", "")
    got = results(text, "x.sum() > 0", "GB0170")
    assert expected.replace("\n", ending) in got[rule]
    assert got[rule].startswith("import torch")


ALONE = [
    "if x.sum() > 0:\n        flag.append(x)",
    "if x.sum() > 0:\n        x = flag.pop()",
    "if x.sum() > 0:\n        x = None",
    "if x.sum() > 0:\n        new = x\n    x = new",  # not bound where the branch is not taken
    "if x.sum() > 0:\n        for y in x: x = x + y",
    "if x.sum() > 0:\n        x = [x]",
    "if (flag := x.sum() > 0):\n        x = x + 1",
    "if x.sum() > 0:\n        global y\n        y = x",
    "if x.sum() > 0:\n        def g(): return x",
    "if x.sum() > 0:\n        return x + 1\n    flag.append(x)",
]


@pytest.mark.parametrize("statements", ALONE)
def test_a_branch_with_other_effects_stays(statements: str) -> None:
    text = HEAD + f"def f(x, flag):\n    {statements}\n    return x\n"
    got = results(text, "x.sum() > 0", "GB0170")
    assert not {"where", "where-layers", "cond"} & got.keys()


def test_a_check_of_all_elements_reads_no_number() -> None:
    text = HEAD + "def f(x):\n    torch._check_tensor_all(x > 0)\n    return x\n"
    got = results(text, "torch._check_tensor_all(x > 0)", "GB0124")
    assert "    torch._assert_async((x > 0).all())\n" in got["assert-async"]
    told = text.replace("x > 0)", 'x > 0, lambda: "bad")')
    assert "assert-async" not in results(told, "torch._check_tensor_all", "GB0124")


def test_parts_of_a_condition_are_joined_as_tensors() -> None:
    text = HEAD + "def f(x):\n    if x.dtype == torch.half and (x.isinf().any() or x.max() > 9):\n"
    text += "        x = x.clamp(-9, 9)\n"
    got = results(text + "    return x\n", "x.isinf().any()", "GB0170")["where"]
    line = "        x = torch.where(x.isinf().any() | (x.max() > 9), x.clamp(-9, 9), x)\n"
    assert got == HEAD + "def f(x):\n    if x.dtype == torch.half:\n" + line + "    return x\n"


def test_tabs_stay() -> None:
    text = (
        "import torch\n\n\ndef f(x, flag):\n\tif flag is not None and x.any():\n\t\tx = x + 1\n\treturn x\n"
    )
    got = results(text, "x.any()", "GB0170")
    assert "\tif flag is not None:\n\t\tx = torch.where(x.any(), x + 1, x)\n\treturn x\n" in got["where"]


def test_an_arm_with_branches_of_its_own_runs_and_is_chosen_from() -> None:
    text = body(
        """
        import torch


        def f(x, y, flag):
            if x.sum() > 0:
                y = x
            elif flag:
                y = y + 1
            else:
                y = y - 1
            return y
        """
    )
    assert results(text, "x.sum()", "GB0170")["where"] == body(
        """
        import torch


        def f(x, y, flag):
            taken = x.sum() > 0
            y_if = x
            if flag:
                y = y + 1
            else:
                y = y - 1
            y = torch.where(taken, y_if, y)
            return y
        """
    )


@pytest.mark.parametrize(
    ("code", "said", "rule", "lines"),
    [
        (
            "GB0059",
            "Dynamo does not know how to trace builtin operator `print` with argument types ['Tensor']",
            "reorder-print",
            ["torch._dynamo.config.reorderable_logging_functions.add(print)"],
        ),
        (
            "GB0007",
            "Dynamo does not know how to trace the Python builtin `_warnings.warn`.",
            "reorder-print",
            ["import warnings", "torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)"],
        ),
        (
            "GB0291",
            "Developer debug context: method: <Logger own.blocks (WARNING)>.warning_once, args: []",
            "ignore-logging",
            [
                "import logging",
                'torch._dynamo.config.ignore_logging_functions.add(logging.getLogger("own.blocks").warning_once)',
            ],
        ),
        ("GB0033", "", "capture-scalars", ["torch._dynamo.config.capture_scalar_outputs = True"]),
        ("GB0124", "", "capture-scalars", ["torch._dynamo.config.capture_scalar_outputs = True"]),
        (
            "GB0036",
            "",
            "capture-dynamic-shapes",
            ["torch._dynamo.config.capture_dynamic_output_shape_ops = True"],
        ),
        ("GB0014", "", "config-allow-rnn", ["torch._dynamo.config.allow_rnn = True"]),
    ],
)
def test_a_break_in_a_library_has_a_setting_in_the_program(
    code: str, said: str, rule: str, lines: list[str]
) -> None:
    text = "import torch\nfrom own import blocks\n\n\ndef f(x):\n    return blocks(x) + 1\n"
    source = SourceFile(FILE, text)
    stack = (StackCall(FILE, 6, "f"), StackCall("/site-packages/own/blocks.py", 3, "blocks"))
    span = span_of(source, "blocks(x)")
    finding = Finding("graph-break", code, "warning", "", span, stack=stack, text=said)
    [fix] = candidates(finding, RuleContext(Report(FILE, 1), {FILE: source}))[:1]
    assert fix.rule == rule
    assert fix.prints_differ is (code in ("GB0059", "GB0007", "GB0291"))
    added = [line for line in edited(source, fix.edits).split("\n") if line not in source.text.split("\n")]
    assert added == lines
