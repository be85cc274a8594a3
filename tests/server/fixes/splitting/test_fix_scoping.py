"""Settings of torch for one compiled function instead of the whole process."""

from __future__ import annotations

from textwrap import indent

import pytest
from fixing import FILE, fixes
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.model import Fix

BODY = "def step(x):\n    n = int(x.max())\n    return x.new_zeros(n)\n"
METHOD = indent(BODY, "    ")
WIDE = "torch._dynamo.config.capture_scalar_outputs = True"
PATCH = "torch._dynamo.config.patch(capture_scalar_outputs=True)"


def captured(text: str) -> tuple[str, Fix]:
    """The text with the setting that captures numbers, and the fix."""
    source, found = fixes(f"import torch\n\n\n{text}", "int(x.max())", "GB0124")
    fix = next(item for item in found if item.rule == "capture-scalars")
    return edited(source, fix.edits), fix


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"@torch.compile\n{BODY}", f"@{PATCH}\n@torch.compile\ndef step"),
        (
            f"class A:\n    @torch.compile(dynamic=True)\n{METHOD}",
            f"    @{PATCH}\n    @torch.compile(dynamic=True)\n    def step",
        ),
        (f"{BODY}\nfast = torch.compile(step)\n", f"fast = {PATCH}(torch.compile(step))\n"),
        # a module that is compiled stays a module
        (f"class A:\n{METHOD}\na = torch.compile(A().step)\n", f"import torch\n\n{WIDE}\n"),
        (f"@torch.no_grad()\n@torch.compile\n{BODY}", f"import torch\n\n{WIDE}\n"),
        # it is compiled elsewhere
        (BODY, f"import torch\n\n{WIDE}\n"),
    ],
)
def test_a_setting_holds_for_the_function_where_it_can(text: str, expected: str) -> None:
    assert expected in captured(text)[0]


def test_a_setting_of_one_function_says_how_far_it_reaches() -> None:
    _, fix = captured(f"@torch.compile\n{BODY}")
    assert fix.safety == "unsafe"
    assert "during each call of the compiled `step`" in fix.change
    assert fix.is_setting
    assert all(edit.span.filename == FILE for edit in fix.edits)
