"""Safe means safe: what another file, a subclass or another function can tell is unsafe, with a reason."""

from __future__ import annotations

from textwrap import dedent

import pytest
from fixing import FILE, fixes, rewriting
from fullgraph_server.fixes.model import Fix
from fullgraph_server.fixes.reach import judged
from fullgraph_server.text.remedies import Remedy

INIT = "class A(torch.nn.Module):\n    def __init__(self):\n"
METHOD = "class A:\n    def f(self, x):\n"
MARKED = "torch._dynamo.mark_dynamic(x, 0)"
HEAD = "import functools\nimport zlib\nimport torch\n\n"


def judge(before: str, after: str) -> Fix:
    """The judgement of an edit that makes a text another one."""
    source, fix = rewriting(HEAD + dedent(before), HEAD + dedent(after))
    return judged(fix, {FILE: source})


TOLD = {
    "a parameter": (
        "def f(x):\n    return x * 2\n",
        "def f(x, n):\n    return x * n\n",
        "`f` has other parameters: calls in other files",
    ),
    "a parameter of a method": (
        "class A:\n    def f(self, x):\n        return x * 2\n",
        "class A:\n    def f(self, x, n):\n        return x * n\n",
        "`A.f` has other parameters: calls in other files, and overrides",
    ),
    "a decorator": (
        "@functools.cache\ndef f(x):\n    return x * 2\n",
        "def f(x):\n    return x * 2\n",
        "`f` has other decorators",
    ),
    "a method that is gone": (
        "class A:\n    def vjp(self):\n        pass\n",
        "class A:\n    def backward(self):\n        pass\n",
        "`A.vjp` is gone",
    ),
    "a constructor": (
        f"{INIT}        self.n = 1\n",
        f"{INIT}        super().__init__()\n        self.n = 1\n",
        "`A.__init__` does more, which affects subclasses",
    ),
    "a method that may be overridden": (
        f"{METHOD}        if x.sum() > 0:\n            x = self.act(x)\n        return x * 1\n",
        f"{METHOD}        y = self.act(x)\n        return torch.where(x.sum() > 0, y, x) * 1\n",
        "`self.act` now always runs, which affects an override",
    ),
    "torch.cond": (
        "def f(x):\n    return x.sin() if x.sum() > 0 else x.cos()\n",
        "def f(x):\n    return torch.cond(x.sum() > 0, lambda: x.sin(), lambda: x.cos())\n",
        "`cond` raises an error if its branches differ",
    ),
    "a setting": (
        "def f(x):\n    return x\n",
        "torch._dynamo.config.capture_scalar_outputs = True\n\ndef f(x):\n    return x\n",
        "The setting stays on",
    ),
    "a set of functions": (
        "def f(x):\n    return x\n",
        "torch._dynamo.config.reorderable_logging_functions.add(print)\n\ndef f(x):\n    return x\n",
        "The setting stays on",
    ),
    "a state of torch": (
        "f = 1\n",
        "f = 1\ntorch.set_num_threads(1)\n",
        "The setting stays on",
    ),
    "an import": (
        "def f(x):\n    import vendor\n    return vendor.a(x)\n",
        "import vendor\n\ndef f(x):\n    return vendor.a(x)\n",
        "`vendor` is imported with the file",
    ),
    "a name that means something else": (
        "def f(x):\n    from torch import sum\n    return sum(x)\n\ndef g(x):\n    return sum(x)\n",
        "from torch import sum\n\ndef f(x):\n    return sum(x)\n\ndef g(x):\n    return sum(x)\n",
        "`sum` refers to the import in other functions",
    ),
    "a result that was the argument": (
        "def f(x):\n    if x.sum() > 0:\n        x = -x\n    return x\n",
        "def f(x):\n    x = torch.where(x.sum() > 0, -x, x)\n    return x\n",
        "`f` no longer returns the memory of `x`",
    ),
    "an argument that was changed": (
        "def f(x):\n    torch.add(x, 1, out=x)\n    return x * 2\n",
        "def f(x):\n    x = torch.add(x, 1)\n    return x * 2\n",
        "`f` no longer changes `x` in place",
    ),
    "an argument that is changed": (
        "def f(x):\n    x = x + 1\n    return x * 2\n",
        "def f(x):\n    x += 1\n    return x * 2\n",
        "`f` now changes `x` in place",
    ),
    "what it writes down": (
        "SEEN = []\ndef f(x):\n    SEEN.append(1)\n    return x * 2\n",
        "SEEN = []\ndef f(x):\n    return x * 2\n",
        "`f` no longer has the same side effects",
    ),
    "a variable": (
        "o = torch.optim.SGD(w, lr=0.1)\n",
        "o = torch.optim.SGD(w, lr=torch.tensor(0.1))\n",
        "`o` is a different object for all code that uses it",
    ),
    "a mark on what another function gets": (
        "def main(data):\n    for x in data:\n        f(x)\n        g(x)\n",
        f"def main(data):\n    for x in data:\n        {MARKED}\n        f(x)\n        g(x)\n",
        "The mark stays on `x`",
    ),
    "a mark on a parameter": (
        "def main(x):\n    f(x)\n",
        "def main(x):\n    torch._dynamo.mark_dynamic(x, 0)\n    f(x)\n",
        "The mark stays on `x`",
    ),
    "a copy of what is changed": (
        "@torch.compile\ndef f(x):\n    return x.mul_(2).sum()\n\nf(y.t())\n",
        "@torch.compile\ndef f(x):\n    return x.mul_(2).sum()\n\nf(y.t().contiguous())\n",
        "`f` changes `x` in place, which is now a copy",
    ),
    "a copy of what is returned": (
        "def f(x):\n    return x.view(-1)\n\ng = torch.compile(f)\ng(y.t())\n",
        "def f(x):\n    return x.view(-1)\n\ng = torch.compile(f)\ng(y.t().contiguous())\n",
        "`g` returns `x` itself, which is now a copy",
    ),
}  # fmt: skip
HIDDEN = {
    "another way to compute": (
        "def f(x):\n    if x.sum() > 0:\n        y = x * 2\n    else:\n        y = x - 1\n    return y\n",
        "def f(x):\n    y = torch.where(x.sum() > 0, x * 2, x - 1)\n    return y\n",
    ),
    "a parameter of a local function": (
        "def main(x):\n    def f(x):\n        return x * 2\n    return f(x)\n",
        "def main(x):\n    def f(x, n):\n        return x * n\n    return f(x, 2)\n",
    ),
    "how a function is compiled": (
        "@torch.compile\ndef f(x):\n    return x * 2\n\ng = torch.compile(f)\n",
        "@torch.compile(dynamic=True)\ndef f(x):\n    return x * 2\n\ng = torch.compile(f, dynamic=True)\n",
    ),
    "an import of torch": (
        "def f(x):\n    from torch.nn.functional import softplus\n    return softplus(x)\n",
        "from torch.nn.functional import softplus\n\ndef f(x):\n    return softplus(x)\n",
    ),
    "a break that is asked for": (
        "def f(x):\n    torch._dynamo.graph_break()\n    return x * 2\n",
        "def f(x):\n    return x * 2\n",
    ),
    "a mark on a tensor of its own": (
        "for x in data:\n    f(x)\n",
        "for x in data:\n    torch._dynamo.mark_dynamic(x, 0)\n    f(x)\n",
    ),
    "one layout of what is only read": (
        "@torch.compile\ndef f(x):\n    return x.sum()\n\nf(y.t())\n",
        "@torch.compile\ndef f(x):\n    return x.sum()\n\nf(y.t().contiguous())\n",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_safe_is_what_nobody_else_can_tell(name: str) -> None:
    before, after, reason = TOLD[name]
    fix = judge(before, after)
    assert fix.safety == "unsafe"
    assert fix.change.startswith("It does. ")
    assert reason in fix.change


@pytest.mark.parametrize("name", HIDDEN)
def test_what_nobody_else_can_tell_stays_safe(name: str) -> None:
    before, after = HIDDEN[name]
    fix = judge(before, after)
    assert (fix.safety, fix.change) == ("safe", "It does.")


def test_a_value_that_is_passed_in_makes_a_public_function_unsafe() -> None:
    text = HEAD + "@torch.compile\ndef f(x, name):\n    return x + zlib.crc32(name)\n\n\nf(x, b'a')\n"
    _, found = fixes(text, "zlib.crc32(name)", "GB0007", compiled="f", calls=("f(x, b'a')",))
    assert [(fix.rule, fix.safety) for fix in found if fix.rule == "pass-in"] == [("pass-in", "unsafe")]


@pytest.mark.parametrize(
    "body",
    [
        "if len(x) > 9:\n        x.zero_()\n    n = x.tolist()",
        "n = [1]\n    if len(x) > 9:\n        n = x.tolist()",
        "if len(x) > 9:\n        return x\n    n = x.tolist()",
    ],
    ids=["changed before", "at times", "behind a return"],
)
def test_a_value_is_not_passed_in_that_the_function_may_not_compute_so(body: str) -> None:
    text = HEAD + f"@torch.compile\ndef f(x):\n    {body}\n    return x + n[0]\n\n\nf(x)\n"
    _, found = fixes(text, "x.tolist()", "GB0007", compiled="f", calls=("f(x)",))
    assert "pass-in" not in [fix.rule for fix in found]


def test_what_is_changed_in_place_gets_no_other_layout() -> None:
    remedies = (Remedy("one-layout", ("x.contiguous()",)),)
    for body, expected in (("x.mul_(2)", []), ("x.mul(2)", ["one-layout"])):
        text = HEAD + f"@torch.compile\ndef f(x):\n    return {body}\n\n\nf(y)\nf(y.t())\n"
        _, found = fixes(
            text, "x", "recompile", remedies, "f", ("f(y)", "f(y.t())"), text[: text.index(body)].count("x")
        )
        assert [fix.rule for fix in found] == expected


@pytest.mark.parametrize(
    ("value", "safety"),
    [("lambda y: y + 1", "safe"), ("functools.partial(g, 1)", "safe"), ("Counter()", "unsafe")],
)
def test_one_object_for_all_turns_is_safe_where_it_has_no_state(value: str, safety: str) -> None:
    text = HEAD + f"@torch.compile\ndef f(x, n):\n    return n\n\n\nfor a in data:\n    f(1, {value})\n"
    place = text[: text.index("n\n\n\nfor")].count("n")
    _, found = fixes(text, "n", "recompile", (Remedy("make-once"),), "f", (f"f(1, {value})",), place)
    assert [(fix.rule, fix.safety) for fix in found] == [("make-once", safety)]
