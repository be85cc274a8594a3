"""The fixes of recompilations: what the advice names, at the right line."""

from __future__ import annotations

import pytest
from fixing import results
from fullgraph_server.text.remedies import Remedy

DYNAMIC = Remedy("dynamic")
MARK = (Remedy("mark", ("torch._dynamo.mark_dynamic(x, 0)",)), DYNAMIC)
F = "import torch\n\n\n@torch.compile\ndef f(x, n=0):\n    return x * 2\n\n\n"


def fixed(calls: str, *told: Remedy, seen: tuple[str, ...] = ("f(a)",), text: str = F) -> dict[str, str]:
    return results(text + calls, "x * 2", "recompile", told, "f", seen)


def test_a_size_is_marked_before_the_call() -> None:
    got = fixed("for a in data:\n    f(a)\n", *MARK)
    assert list(got) == ["mark-dynamic", "dynamic"]
    assert got["mark-dynamic"] == F + "for a in data:\n    torch._dynamo.mark_dynamic(a, 0)\n    f(a)\n"
    assert (
        got["dynamic"]
        == F.replace("@torch.compile", "@torch.compile(dynamic=True)") + "for a in data:\n    f(a)\n"
    )


def test_an_argument_without_a_name_gets_one() -> None:
    got = fixed("f(make(3))\nf(x=make(4))\n", *MARK, seen=("f(make(3))", "f(x=make(4))"))
    expected = (
        "x_2 = make(3)\ntorch._dynamo.mark_dynamic(x_2, 0)\nf(x_2)\n"
        "x_2 = make(4)\ntorch._dynamo.mark_dynamic(x_2, 0)\nf(x=x_2)\n"
    )
    assert got["mark-dynamic"] == F + expected


@pytest.mark.parametrize("call", ["[f(a) for a in data]", "g = lambda a: f(a)", "while f(a): pass"])
def test_a_call_that_no_line_stands_before_is_compiled_as_dynamic(call: str) -> None:
    assert list(fixed(call + "\n", *MARK)) == ["dynamic"]


COMPILED = [
    ("g = torch.compile(f)", "g = torch.compile(f, dynamic=True)"),
    ("g = torch.compile(f, dynamic=False)", "g = torch.compile(f, dynamic=True)"),
    ("g = torch.compile(\n    f,  # this\n)", "g = torch.compile(\n    f, dynamic=True,  # this\n)"),
    ("g = torch.compile(f, mode=(1))", "g = torch.compile(f, mode=(1), dynamic=True)"),
]


@pytest.mark.parametrize(("before", "after"), COMPILED)
def test_the_call_of_compile_gets_a_keyword(before: str, after: str) -> None:
    plain = F.replace("@torch.compile\n", "")
    got = fixed(f"{before}\ng(a)\n", DYNAMIC, seen=("g(a)",), text=plain)
    assert got == {"dynamic": plain + f"{after}\ng(a)\n"}


def test_only_the_call_of_compile_that_was_seen_gets_a_keyword() -> None:
    plain = F.replace("@torch.compile\n", "")
    other = "def other():\n    g = torch.compile(f)\n    g(b)\n\n\n"
    own = "def own(g):\n    g = torch.compile(f)\n    g(a)\n"
    got = fixed(other + own, DYNAMIC, seen=("g(a)",), text=plain)
    assert got == {"dynamic": plain + other + own.replace("(f)", "(f, dynamic=True)")}
    twice = "def given(g):\n    g(a)\n\n\n" + other + own.replace("own", "third").replace("g(a)", "g(c)")
    assert fixed(twice, DYNAMIC, seen=("g(a)",), text=plain) == {}
    assert fixed("g = torch.compile(f, **options)\ng(a)\n", DYNAMIC, seen=("g(a)",), text=plain) == {}


def test_a_method_is_compiled_in_its_own_class() -> None:
    own = "class A:\n    def __init__(self):\n        self.g = torch.compile(f)\n\n    def run(self):\n"
    other = own.replace("class A", "class B") + "        self.g(b)\n\n\n"
    plain = F.replace("@torch.compile\n", "") + other
    got = fixed(own + "        self.g(a)\n", DYNAMIC, seen=("self.g(a)",), text=plain)
    assert got == {"dynamic": plain + own.replace("(f)", "(f, dynamic=True)") + "        self.g(a)\n"}


def test_only_the_function_that_was_compiled_gets_a_keyword() -> None:
    apart = "def g():\n    @torch.compile\n    def f(x):\n        return x + 2\n\n    f(b)\n\n\n"
    apart += "def h():\n    f = torch.compile(g)\n    f(b)\n\n\n"
    apart += "class A:\n    @torch.compile\n    def f(self):\n        pass\n\n\n"
    got = fixed(apart + "f(a)\n", DYNAMIC)
    assert got["dynamic"] == F.replace("compile\n", "compile(dynamic=True)\n") + apart + "f(a)\n"


def test_a_setting_comes_with_it() -> None:
    setting = "torch._dynamo.config.allow_unspec_int_on_nn_module = True"
    got = fixed("f(a)\n", Remedy("dynamic", setting=setting))["dynamic"]
    decorators = (
        "@torch._dynamo.config.patch(allow_unspec_int_on_nn_module=True)\n@torch.compile(dynamic=True)\n"
    )
    assert f"{decorators}def f(" in got
    assert "@torch.compile(dynamic=True)\n" in got


def test_arguments_are_converted() -> None:
    got = fixed("f(a + b)\n", Remedy("convert", ("x.to(torch.float32)",)), seen=("f(a + b)",))
    assert got == {"convert-argument": F + "f((a + b).to(torch.float32))\n"}
    every = fixed("f(a)\nf(b)\n", Remedy("convert", ("x.to(torch.float32)",)))
    assert every == {"convert-argument": F + "f(a.to(torch.float32))\nf(b.to(torch.float32))\n"}
    inner = fixed("f(a)\nf(f(b))\n", Remedy("convert", ("x.to(torch.float32)",)))
    assert inner == {"convert-argument": F + "f(a.to(torch.float32))\nf(f(b))\n"}
    got = fixed("f(a)\n", Remedy("one-layout", ("x.contiguous()",)))
    assert got == {"one-layout": F + "f(a.contiguous())\n"}


def test_the_learning_rate_is_a_tensor() -> None:
    calls = "o = torch.optim.SGD(w, lr=0.1)\no.param_groups[0]['lr'] = r\nf(a)\n"
    got = fixed(calls, Remedy("tensor-learning-rate"))["tensor-learning-rate"]
    assert "SGD(w, lr=torch.tensor(0.1))\no.param_groups[0]['lr'].fill_(r)\n" in got


def test_an_object_is_made_before_the_loop() -> None:
    once = (Remedy("make-once"),)
    text = F.replace("x * 2", "n(x)")
    calls = "for _ in data:\n    g = make()\n    f(1, g)\n"
    got = results(text + calls, "n(x)", "recompile", once, "f", ("f(1, g)",))
    assert got == {}, "the finding is on no variable"
    place = text[: text.index("n(x)")].count("n")
    got = results(text + calls, "n", "recompile", once, "f", ("f(1, g)",), place)
    assert got == {"make-once": text + "g = make()\nfor _ in data:\n    f(1, g)\n"}
    calls = "for i in data:\n    g = make(i)\n    f(1, g)\n"
    assert results(text + calls, "n", "recompile", once, "f", ("f(1, g)",), place) == {}


def test_sums_take_the_whole_tensor() -> None:
    whole = (Remedy("whole-tensor"),)
    text = F.replace("x * 2", "sum(x[i] for i in range(x.shape[0]))")
    got = results(text + "f(a)\n", "x[i]", "recompile", whole, "f", ("f(a)",))
    assert "    return x.sum(0)\n" in got["whole-tensor"]


def test_a_tensor_that_changes_nothing() -> None:
    neutral = (Remedy("neutral-tensor"),)
    text = "import torch\n\n\ndef f(x, n=None):\n    if n is not None:\n        x = x * n\n"
    text += "    return x\n\n\na = 1\n"
    place = text[: text.index("n is not")].count("n")
    got = results(text + "f(a)\nf(a, a)\n", "n", "recompile", neutral, "f", ("f(a)", "f(a, a)"), place)
    assert got == {"neutral-tensor": text + "f(a, n=torch.ones_like(a))\nf(a, a)\n"}


def test_advice_without_a_remedy_has_no_edit() -> None:
    assert fixed("f(a)\n") == {}
