"""What no run shows of an edit is read from its text: modes, hooks, overrides, what is read once."""

from __future__ import annotations

from textwrap import dedent

import pytest
from fixing import FILE, rewriting
from fullgraph_server.fixes.unshown import unshown

HEAD = "import functools\nimport gc\nimport logging\nimport os\nimport torch\n\n"
NET = "class Net(torch.nn.Module):\n"
INIT = "    def __init__(self):\n        self.t = 2\n"
FORWARD = "    def forward(self, x):\n        "
APPLY = "@functools.singledispatch\ndef apply(op, x):\n    return x\n\n"
SCALE = "    @property\n    def scale(self):\n        return 2\n"
LOG = "log = logging.getLogger('a')\n"


def said(before: str, after: str) -> str:
    """What is said of an edit that makes a text another one."""
    source, fix = rewriting(HEAD + dedent(before), HEAD + dedent(after))
    return unshown(fix, {FILE: source})


HIDDEN = {
    "a hook of a container": (
        f"{NET}{FORWARD}return self.body(x)\n",
        f"{NET}{FORWARD}for part in self.body:\n            x = part(x)\n        return x\n",
        "`Net.forward` no longer calls `self.body`, which other code may replace, hook or override",
    ),
    "hooks that forward goes past": (
        "def f(net, x):\n    return net(x)\n",
        "def f(net, x):\n    return net.forward(x)\n",
        "`f` no longer calls a function or module that it gets",
    ),
    "a function that is dispatched by type": (
        f"{APPLY}def f(op, x):\n    return apply(op, x)\n",
        f"{APPLY}def f(op, x):\n    return x\n",
        "`f` no longer calls `apply`",
    ),
    "a property": (
        f"{NET}{SCALE}{FORWARD}return x * self.scale\n",
        f"{NET}{SCALE}{FORWARD}return x * 2\n",
        "`Net.forward` no longer calls `.scale`",
    ),
    "a function that is replaced": (
        "def norm(x):\n    return x / 2\n\ndef f(x):\n    return norm(x)\n\nimport ops\nops.norm = abs\n",
        "def norm(x):\n    return x / 2\n\ndef f(x):\n    return x / 2\n\nimport ops\nops.norm = abs\n",
        "`f` no longer calls `norm`",
    ),
    "a setting that is read when the file is loaded": (
        "def f(x):\n    return x * float(os.environ['GAIN'])\n",
        "GAIN = float(os.environ['GAIN'])\n\ndef f(x):\n    return x * GAIN\n",
        "reads `os.environ`",
    ),
    "a level that is read when the file is loaded": (
        f"{LOG}\ndef f(x):\n    return x * 2\n",
        (
            f"{LOG}DEBUG = log.isEnabledFor(10)\n\n"
            "def f(x):\n    if DEBUG:\n        x = x + 0\n    return x * 2\n"
        ),
        "`DEBUG` is made once, from `log`",
    ),
    "a variable that is no longer read": (
        "SCALE = 2\n\ndef f(x):\n    return x * SCALE\n",
        "SCALE = 2\n\ndef f(x):\n    return x * 2\n",
        "`f` no longer reads `SCALE`, which may change between two calls",
    ),
    "an attribute that is read once": (
        f"{NET}{INIT}{FORWARD}return x * self.t\n",
        f"{NET}{INIT}        self.u = torch.tensor(self.t)\n{FORWARD}return x * self.t\n",
        "`Net.__init__` reads `self.t` once",
    ),
    "a mode that a block had": (
        "def f(x):\n    with torch.no_grad():\n        return x * 2\n",
        "def f(x):\n    torch.set_grad_enabled(False)\n    return x * 2\n",
        "`f` computes in another context (`with torch.no_grad()`)",
    ),
    "a statement that moves into a mode": (
        "def f(x):\n    with torch.autocast('cpu'):\n        y = x @ x\n    z = y @ y\n    return z\n",
        "def f(x):\n    with torch.autocast('cpu'):\n        y = x @ x\n        z = y @ y\n    return z\n",
        "`z = y @ y` in `f` is in another `with` or `try`",
    ),
    "a mode of the process": (
        "def f(x):\n    gc.disable()\n    y = x * 2\n    gc.enable()\n    return y\n",
        "gc.disable()\n\ndef f(x):\n    return x * 2\n",
        "`f` calls `gc.disable` only without the edit",
    ),
    "a mode of the process alone": (
        "def f(x):\n    return x * 2\n",
        "torch.set_flush_denormal(True)\n\ndef f(x):\n    return x * 2\n",
        "`torch.set_flush_denormal(True)` applies to the whole process",
    ),
    "a setting of torch that is none of the compiler": (
        "def f(x):\n    return x * 2\n",
        "torch.backends.mkldnn.enabled = False\n\ndef f(x):\n    return x * 2\n",
        "`torch.backends.mkldnn.enabled = False` applies to the whole process",
    ),
    "a mode that is no longer asked for": (
        "def f(x):\n    return x * 2 if torch.is_grad_enabled() else x\n",
        "def f(x):\n    return x * 2\n",
        "`f` calls `torch.is_grad_enabled` only without the edit",
    ),
    "a result that is kept": (
        "def f(x):\n    return x * 2\n",
        "@functools.cache\ndef f(x):\n    return x * 2\n",
        "`f` is decorated differently (`@cache`)",
    ),
    "a parameter": (
        "def f(x):\n    return x * 2\n",
        "def f(x, n=2):\n    return x * n\n",
        "`f` has other parameters",
    ),
    "random numbers": (
        "def f(x):\n    return x + torch.randn(2)\n",
        "def f(x):\n    return x\n",
        "`f` draws random numbers in another place",
    ),
    "what a function gets outside of functions": (
        "def f(*x):\n    return sum(x)\n\nx = [1]\nf(*x)\n",
        "def f(*x):\n    return sum(x)\n\nx = [1]\nx += [0] * 3\nf(*x)\n",
        "`x += [0] * 3` is outside of functions, so it was tried only with the values of this run",
    ),
    "what no longer runs outside of functions": (
        "def f(x):\n    return x\n\nx = [1]\nx.append(2)\nf(x)\n",
        "def f(x):\n    return x\n\nx = [1]\nf(x)\n",
        "`x.append(2)` is outside of functions",
    ),
    "what a loop outside of functions runs over": (
        "for i in range(3):\n    print(i)\n",
        "for i in range(4):\n    print(i)\n",
        "`range(4)` is outside of functions",
    ),
}


@pytest.mark.parametrize(("before", "after", "words"), HIDDEN.values(), ids=HIDDEN)
def test_what_no_run_shows_is_said(before: str, after: str, words: str) -> None:
    assert words in said(before, after)


PLAIN = {
    "a number that stays a tensor": (
        f"{NET}{FORWARD}return x * self.gain.item()\n",
        f"{NET}{FORWARD}return x * self.gain\n",
    ),
    "a branch": (
        "def f(x):\n    if x.sum() > 0:\n        return x + 1\n    return x - 1\n",
        "def f(x):\n    return torch.where(x.sum() > 0, x + 1, x - 1)\n",
    ),
    "a helper": (
        "def double(x):\n    return x * 2\n\ndef f(x):\n    return double(x)\n",
        "def double(x):\n    return x * 2\n\ndef f(x):\n    return x * 2\n",
    ),
    "a log that moves out of a private function": (
        f"{LOG}\ndef _f(x):\n    log.info('a')\n    return x\n\ndef f(x):\n    return _f(x)\n",
        f"{LOG}\ndef _f(x):\n    return x\n\ndef f(x):\n    y = _f(x)\n    log.info('a')\n    return y\n",
    ),
    "an option of the compiler": (
        "def f(x):\n    return x * 2\n",
        "torch._dynamo.config.capture_scalar_outputs = True\n\ndef f(x):\n    return x * 2\n",
    ),
    "a constant": (
        "def f(x):\n    return x * 2\n",
        "TWO = torch.tensor(2)\n\ndef f(x):\n    return x * TWO\n",
    ),
    "a compilation": (
        "@torch.compile\ndef f(x):\n    return x * 2\n",
        "@torch.compile(dynamic=True)\ndef f(x):\n    return x * 2\n",
    ),
    "a comprehension": (
        "def f(x):\n    return torch.tensor([i for i in x.tolist()])\n",
        "def f(x):\n    return x\n",
    ),
    "another compilation outside of functions": (
        "def f(x):\n    return x * 2\n\nfor i in range(3):\n    g = torch.compile(f)\n    g(i)\n",
        (
            "def f(x):\n    return x * 2\n\nh = torch.compile(f, dynamic=True)\n"
            "for i in range(3):\n    g = f\n    torch._dynamo.mark_dynamic(i, 0)\n    g(i)\n"
        ),
    ),
}


@pytest.mark.parametrize(("before", "after"), PLAIN.values(), ids=PLAIN)
def test_nothing_is_said_of_what_a_run_shows(before: str, after: str) -> None:
    assert said(before, after) == ""
