"""Functions split into a compiled part and the statements around it: what moves, the text, the safety."""

from __future__ import annotations

import ast
import builtins
from textwrap import dedent, indent

import pytest
from fixing import FILE, fixes
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.model import Fix
from fullgraph_server.fixes.reach import judged
from fullgraph_server.fixes.rules.syntax import code_of
from fullgraph_server.fixes.splitting.partition import divisions
from fullgraph_server.fixes.splitting.sites import site_of
from fullgraph_server.fixes.splitting.source import split_edit
from fullgraph_server.fixes.splitting.watching import part_name, with_watches
from fullgraph_server.workspace.source import SourceFile

HEAD = "import time\n\nimport torch\nfrom torch import no_grad\n\nhistory = []\n\n\n"
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
BREAKS = (".item()", "print(", "perf_counter", "# break")


def calls(node: ast.AST) -> bool:
    return any(isinstance(item, ast.Call) for item in ast.walk(node))


def split(text: str) -> tuple[str, Fix] | None:
    """The text after the split of its function ``step`` or ``forward``, and the fix; else ``None``.

    Statements with one of ``BREAKS`` are taken to break the graph, and all others to compute.
    """
    source = SourceFile(FILE, HEAD + dedent(text).lstrip("\n"))
    code = code_of(source)
    assert code is not None
    function = next(item for item in code.functions() if item.name in ("step", "forward"))
    simple = [item for item in ast.walk(function) if isinstance(item, (*SIMPLE, ast.If, ast.While))]
    own = [item for item in simple if any(word in code.source.line(item.lineno) for word in BREAKS)]
    computing = [item for item in simple if isinstance(item, SIMPLE) and item not in own and calls(item)]
    site = site_of(code, function)
    parts = next(iter(divisions(code, function, own[0], own, computing)), None)
    edit = (
        split_edit(code, parts, site, part_name(function.name, code.mentions))
        if parts is not None and site is not None
        else None
    )
    if edit is None or site is None:
        return None
    fix = judged(Fix("split-function", "", "It.", "safe", "", (edit, *site.edits)), {FILE: source})
    after = edited(source, fix.edits)
    ast.parse(after)
    return after.removeprefix(HEAD), fix


def test_a_record_runs_after_the_part() -> None:
    found = split(
        """
        @torch.compile(dynamic=True)
        def step(model, x: torch.Tensor, y, scale=1.0, *, log=True):
            '''One step.'''
            loss = (model(x) - y).square().mean()
            # for the plot
            history.append(loss.item())  # a number
            return loss * scale
        """
    )
    assert found is not None
    assert found[0] == dedent(
        """\
        @torch.compile(dynamic=True)
        def compiled_step(model, x: torch.Tensor, y, scale):
            loss = (model(x) - y).square().mean()
            return loss * scale, loss


        def step(model, x: torch.Tensor, y, scale=1.0, *, log=True):
            '''One step.'''
            result, loss = compiled_step(model, x, y, scale)
            # for the plot
            history.append(loss.item())  # a number
            return result
        """
    )
    assert found[1].safety == "safe"


def test_a_value_that_changes_later_has_a_name_of_its_own() -> None:
    found = split(
        """
        class Net(torch.nn.Module):
            def forward(self, x):
                x = self.a(x)
                self.stats.append(x.abs().mean().item())
                x = self.b(x)
                return x

        model = torch.compile(Net())
        """
    )
    assert found is not None
    assert found[0] == dedent(
        """\
        class Net(torch.nn.Module):
            @torch.compile
            def compiled_forward(self, x):
                x = self.a(x)
                x_abs_mean = x.abs().mean()
                x = self.b(x)
                return x, x_abs_mean

            def forward(self, x):
                x, x_abs_mean = self.compiled_forward(x)
                self.stats.append(x_abs_mean.item())
                return x

        model = Net()
        """
    )


def test_a_clock_and_a_check_run_before_the_part() -> None:
    found = split(
        """
        def step(x):
            start = time.perf_counter()
            if torch.isnan(x).any():  # break
                raise ValueError("NaN")
            out = torch.tanh(x)
            out = out / out.norm()
            seconds = time.perf_counter() - start
            return out, seconds

        fast = torch.compile(step, dynamic=False)
        """
    )
    assert found is not None
    assert found[0] == dedent(
        """\
        @torch.compile(dynamic=False)
        def compiled_step(x):
            out = torch.tanh(x)
            return out / out.norm()


        def step(x):
            start = time.perf_counter()
            if torch.isnan(x).any():  # break
                raise ValueError("NaN")
            out = compiled_step(x)
            seconds = time.perf_counter() - start
            return out, seconds

        fast = step
        """
    )


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("fast = torch.compile(step)\nfor x in (1, 2):\n    fast(x)", "for x in (1, 2):\n    step(x)"),
        ("fast = torch.compile(step)\nexport = [fast, fast(1)]", "export = [step, step(1)]"),
        (
            "def main(other):\n    fast = torch.compile(step)\n    return lambda x: fast(x)",
            "def main(other):\n    return lambda x: step(x)",
        ),
        # The variable may be another object later, or is there for other files.
        (
            "fast = torch.compile(step)\nfast(1)\nfast = None",
            "fast = step\nfast(1)\nfast = None",
        ),
        ("fast = torch.compile(step)", "fast = step"),
        (
            "def main():\n    global fast\n    fast = torch.compile(step)\n    fast(1)",
            "def main():\n    global fast\n    fast = step\n    fast(1)",
        ),
    ],
)
def test_the_variable_of_a_compiled_function_leaves_with_the_compilation(after: str, expected: str) -> None:
    text = "def step(x):\n    y = torch.tanh(x) / x.norm()\n    print(y)\n    return y\n\n"
    found = split(text + after + "\n")
    assert found is not None
    assert found[0].endswith(f"    return y\n\n{expected}\n")


def test_what_an_optimizer_changes_is_not_read_before_it() -> None:
    found = split(
        """
        @torch.compile
        def step(net, target, opt, x, every):
            loss = (net(x) - target(x)).pow(2).mean()
            opt.zero_grad()  # break
            loss.backward()  # break
            opt.step()  # break
            scale = x.detach().abs() + 1
            for p, q in zip(net.parameters(), target.parameters()):
                q.data.lerp_(p.data, 0.1)
            return loss, scale
        """
    )
    assert found is not None
    assert found[0] == dedent(
        """\
        @torch.compile
        def compiled_step(net, target, x):
            loss = (net(x) - target(x)).pow(2).mean()
            scale = x.detach().abs() + 1
            return loss, scale


        def step(net, target, opt, x, every):
            opt.zero_grad()  # break
            loss, scale = compiled_step(net, target, x)
            loss.backward()  # break
            opt.step()  # break
            for p, q in zip(net.parameters(), target.parameters()):
                q.data.lerp_(p.data, 0.1)
            return loss, scale
        """
    )


def test_what_a_function_returns_beside_a_moved_value_is_computed_in_the_part() -> None:
    found = split(
        """
        @torch.compile
        def step(rewards, values):
            gains = torch.zeros_like(rewards) + values
            print("gains", gains.mean())
            return gains, gains + values[:-1], rewards.mean() * 2
        """
    )
    assert found is not None
    assert found[0] == dedent(
        """\
        @torch.compile
        def compiled_step(rewards, values):
            gains = torch.zeros_like(rewards) + values
            result = gains + values[:-1]
            result_2 = rewards.mean() * 2
            return gains, result, result_2


        def step(rewards, values):
            gains, result, result_2 = compiled_step(rewards, values)
            print("gains", gains.mean())
            return gains, result, result_2
        """
    )


@pytest.mark.parametrize(
    ("between", "returned"),
    [
        ('print("max", y.max().item())\n            if frozen:\n                return y, None', "y, bn(y)"),
        ('print("half way")', "queue.pop(), y * len(queue)"),
        ("print(names.pop())", "y * len(names), y"),
        ('print("took", time.perf_counter() - y.size(0))', "y.size(0), head(y)"),
        ("flat = y.view(-1)\n            if n.item() > 3:\n                flat[0] = 0.0", "y * 2, n"),
        ('print("half way")', "y.mean().item(), y * 2"),
    ],
    ids=["early exit", "sibling", "printing changes", "impure", "view", "conversion"],
)
def test_a_returned_value_that_others_may_change_stays_where_it_is(between: str, returned: str) -> None:
    found = split(
        f"""
        @torch.compile
        def step(x, n, frozen, bn, queue, names, head):
            y = (x.sin() + 1).exp().tanh() * 2
            {between}
            return {returned}
        """
    )
    part = found[0].partition("def step(")[0] if found is not None else ""
    assert "result = " not in part


@pytest.mark.parametrize(
    "after",
    [
        "import functools\nfast = functools.partial(torch.compile(step), x=1)\nfast()",
        "fast = torch.no_grad()(torch.compile(step))\nfast(1)",
        "fast = torch.compile(step)\ndef compare(step, x):\n    return fast(x) - step(x)",
        "fast = torch.compile(step)\ndef bench(fast, x):\n    return fast(x)",
        "fast = torch.compile(step)\ndef later(x):\n    step = 3\n    return fast(x)",
        "fast = torch.compile(step)\nrun = lambda step: fast(step)",
        "fast = torch.compile(step)\nall_ = [fast(step) for step in (1, 2)]",
        "fast = torch.compile(step)\ndef swap():\n    global step\n    step = 3\nfast(1)",
    ],
)
def test_a_variable_that_is_not_certainly_the_compiled_function_stays(after: str) -> None:
    text = "def step(x):\n    y = torch.tanh(x) / x.norm()\n    print(y)\n    return y\n\n"
    found = split(text + after + "\n")
    assert found is None or "is gone" not in found[1].change
    assert found is None or "fast = " in found[0]


@pytest.mark.parametrize(
    "returned", ["loss, net(x) * 2", "loss, number * 2 + loss", "loss, torch.rand(2) * x"]
)
def test_what_a_moved_statement_may_change_is_returned_after_it(returned: str) -> None:
    found = split(
        f"""
        @torch.compile
        def step(net, opt, x):
            loss = net(x).pow(2).mean().tanh().exp()
            number = loss.item()
            opt.step()  # break
            return {returned}
        """
    )
    assert found is not None
    assert found[0].endswith(f"    opt.step()  # break\n    return {returned}\n")


def test_a_loop_of_which_half_would_run_uncompiled_stays() -> None:
    found = split(
        """
        @torch.compile
        def step(a, b, tol=1e-6):
            x, r, p = torch.zeros_like(b), b.clone(), b.clone()
            for i in range(100):
                q = a.mv(p)
                alpha = r.dot(r) / p.dot(q)
                if r.norm().item() < tol:
                    break
                x, last = x.add(alpha.mul(p)), r
                r = r.sub(alpha.mul(q))
            return x
        """
    )
    assert found is None


def test_the_body_of_a_loop_that_ends_with_a_check_is_compiled() -> None:
    found = split(
        """
        @torch.compile
        def step(a, x, tol=1e-6):
            '''Iterate.'''
            delta = x
            for i in range(100):
                # one turn
                y = torch.tanh(a.mv(x))
                delta, x = (y - x).abs().max(), y

                if delta.item() < tol:
                    break
            return x, i
        """
    )
    assert found is not None
    assert found[0] == dedent(
        """\
        @torch.compile
        def compiled_step(a, x):
            # one turn
            y = torch.tanh(a.mv(x))
            return (y - x).abs().max(), y


        def step(a, x, tol=1e-6):
            '''Iterate.'''
            delta = x
            for i in range(100):
                delta, x = compiled_step(a, x)

                if delta.item() < tol:
                    break
            return x, i
        """
    )


def test_the_body_of_a_loop_with_a_number_as_condition_is_compiled() -> None:
    found = split(
        """
        @torch.compile
        def step(x):
            while x.norm().item() > 1:
                x = x * 0.5
                x = x.sin().clone()
            return x
        """
    )
    assert found is not None
    assert "    while x.norm().item() > 1:\n        x = compiled_step(x)\n    return x\n" in found[0]


def test_the_body_of_a_context_is_compiled() -> None:
    found = split(
        """
        @torch.compile
        def step(x, y):
            with torch.no_grad():
                err = (x - y).abs()
                worst = err.max()
                history.append(worst.item())
                return err.mean()
        """
    )
    assert found is not None
    assert found[0] == dedent(
        """\
        @torch.compile
        def compiled_step(x, y):
            err = (x - y).abs()
            worst = err.max()
            return err.mean(), worst


        def step(x, y):
            with torch.no_grad():
                result, worst = compiled_step(x, y)
                history.append(worst.item())
                return result
        """
    )


def test_an_early_end_runs_after_what_it_reads() -> None:
    found = split(
        """
        @torch.compile
        def step(x, y):
            loss = (x - y).abs().sum()
            if not torch.isfinite(loss).all():  # break
                return None
            return loss.sqrt()
        """
    )
    assert found is not None
    assert "    loss_isfinite_all = torch.isfinite(loss).all()\n" in found[0]
    assert "    if not loss_isfinite_all:  # break\n        return None\n" in found[0]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        # what an earlier statement changes is read after it
        (
            "y = x.cos()\n    print(track(y))\n    print(self.peak.max().item())\n    return y",
            "return x.cos()",
        ),
        (
            "y = x.cos()\n    print(y.add_(1))\n    print(y.sum().item())\n    return y",
            "return x.cos()",
        ),
        # what a check rules out is computed after it
        (
            "y = x.cos()\n    if y < 0:  # break\n     return\n    print(y.pinverse().item())\n    return y",
            "return x.cos()",
        ),
        # a nested function reads when it is called
        (
            "y = x.sin().cos()\n    print(y)\n    fns.append(lambda: y.sum().item())\n    return y",
            "return x.sin().cos()",
        ),
        # an unknown function may change a view of what is read
        (
            "y = x.cos()\n    print(clip(y.view(-1)))\n    print(y.max().item())\n    return y",
            "return x.cos()",
        ),
        # a context holds for what is in it
        (
            "y = x.sin().cos()\n    with torch.autocast('cpu'):\n        print((y @ y).item())\n    return y",
            "return x.sin().cos()",
        ),
        # a comment at the end stays
        (
            "y = x.sin().cos()\n    print(y)\n    # the result\n    return y.tan()  # noqa",
            "y = x.sin().cos()\n    # the result\n    return y.tan(), y  # noqa",
        ),
        # a variable of a comprehension is not one of the function
        (
            "y = torch.stack([x.sin() for x in x.unbind()])\n    print(y)\n    return y",
            "return torch.stack([x.sin() for x in x.unbind()])",
        ),
    ],
)
def test_what_is_computed_in_the_part(text: str, part: str) -> None:
    found = split(f"@torch.compile\ndef step(self, x):\n    {text}\n")
    assert found is not None
    arguments = "x" if "self" not in part else "self, x"
    assert f"def compiled_step({arguments}):\n    {part}\n" in found[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the result of a context, and not also the variables that are read after it
        (
            "y = x\n    with no_grad():\n     print(1)\n     y = x.sin().cos().tan()\n     return y.tan()",
            "    return y.tan()\n",
        ),
        # an import, and a function, in the function
        (
            "import math\n    for i in range(3):\n     x = (x * math.pi).sin()\n     print(x)",
            "def compiled_step(x, math):\n",
        ),
        (
            "def act(t):\n     return t.sin()\n    for i in range(3):\n     x = act(x)\n     print(x)",
            "def compiled_step(x, act):\n",
        ),
        # what a comprehension reads is computed before it
        (
            "v = x.tolist()  # break\n    v = [v * 2 for v in v]\n    n = v.item()\n    return x.cos() * n",
            "    v = [v * 2 for v in v]\n    n = v.item()\n    return compiled_step(x, n)",
        ),
        # what the next turn reads comes out of a context in a loop
        (
            "z = x\n    for p in x:\n     with no_grad():\n      y = p+z\n      z = y.cos()\n      print(y)",
            "y, z = compiled_step(z, p)\n",
        ),
        # a name that Python has for itself
        (
            "if_ = x.cos()\n    print(if_.item())\n    if_ = if_.tan()\n    return if_.exp()",
            "    if__now = if_\n",
        ),
    ],
)
def test_what_a_part_gets_and_returns(text: str, expected: str) -> None:
    found = split(f"@torch.compile\ndef step(x):\n    {text}\n")
    assert found is not None
    assert expected in found[0]


@pytest.mark.parametrize(
    "change", ["torch.relu_(y)", "torch.mul(y, 2, out=y)", "y.view(-1).zero_()", "y[0] = 1", "y += 1"]
)
def test_what_changes_a_tensor_stays_after_what_reads_it(change: str) -> None:
    found = split(
        f"@torch.compile\ndef step(x):\n    y = x.cos()\n    print(y)\n    {change}\n    return y.exp()\n"
    )
    assert found is None or f"    print(y)\n    {change}\n" in found[0]


def test_a_call_compiles_the_method_of_its_own_class() -> None:
    methods = "    def step(self, x):\n        y = x.sin()\n        print(y)\n        return y\n\n"
    source = SourceFile(
        FILE, f"class A:\n{methods}class B:\n{methods}b = B()\nfast = torch.compile(b.step)\n"
    )
    code = code_of(source)
    assert code is not None
    first, second = (item for item in code.functions() if item.name == "step")
    assert site_of(code, first) is None
    assert site_of(code, second) is not None


def test_a_result_of_several_lines_stays_one_expression() -> None:
    found = split(
        "@torch.compile\ndef step(x):\n    print('begin')\n    return (x.sin()\n            + x.cos())\n"
    )
    assert found is not None
    assert "    return (x.sin()\n            + x.cos())\n\n\ndef step" in found[0]


def test_many_variables_have_a_line_each() -> None:
    names = [f"quite_a_long_name_{number}" for number in range(5)]
    found = split(
        f"@torch.compile\ndef step({', '.join(names)}):\n"
        f"    y = max({', '.join(names)})\n    print(y)\n    return y\n"
    )
    assert found is not None
    lines = "".join(f"    {name},\n" for name in names)
    assert f"def compiled_step(\n{lines}):\n" in found[0]
    assert f"    y = compiled_step(\n{lines.replace('    ', '        ')}    )\n    print(y)\n" in found[0]


def test_what_runs_in_another_order_makes_it_unsafe() -> None:
    found = split("@torch.compile\ndef step(x, y):\n    z = x.sin()\n    print(z)\n    return z.exp() / y\n")
    assert found is not None
    assert "return z.exp() / y, z" in found[0]


@pytest.mark.parametrize(
    "text",
    [
        # half of the computation would no longer be compiled
        "y = x.sin().cos()\n    n = y.sum().item()\n    z = (y * n).exp()\n    return z",
        # what the record reads would be cleared
        "y = x.sin()\n    print(seen, y)\n    y = y.cos() + len(seen.pop())\n    return y.exp()",
        # it would not be reached always
        "y = x.sin()\n    if y.shape[0] == 1:\n        return y\n    print(y)\n    return y.cos()",
        "global z\n    y = x.sin()\n    print(y)\n    return y",
        "print(x)\n    yield x",
        "y = x.sin(); print(y)\n    return y",
        "if x.ndim:\n        y = x.sin()\n    print(y)\n    return x",
        # it would return in spite of the statement after it
        "y = x.sin().cos()\n    print(y)\n    y = y.tan()\n    if y.ndim:\n        return y.exp().sin()",
        # one segment may read what an earlier one has bound
        "for p in x:\n     if p.ndim:\n      ref = p.sin()\n     y = p.cos() * ref\n     print(y)",
        # an error would be caught, and what the part has bound lost
        "with suppress(E):\n     y = x.sin().cos()\n     print(y)\n     y = y.tan().exp()\n    return x",
        # the result depends on whether it is compiled
        "y = x.sin().cos()\n    if not torch.compiler.is_compiling():\n     print(y)\n    return y",
        # each function would have its own variable
        "for part in x:\n        y = part.cos().sin()\n        fns.append(lambda t: t * y)\n        print(y)",
        # what the loop has computed would be lost with an error
        "try:\n     for p in x:\n      y = p.cos().sin()\n      print(y)\n    finally:\n     return y",
        # both draw
        "y = x.cos()\n    if torch.rand(2).item():\n     print(y)\n    return torch.dropout(y, 0.5, True)",
    ],
)
def test_what_cannot_be_split(text: str) -> None:
    assert split(f"@torch.compile\ndef step(x):\n    {text}\n") is None


@pytest.mark.parametrize(
    "text",
    [
        "def step(x):\n    y = x.sin()\n    print(y)\n    return y\n",
        "class A:\n    @torch.compile\n    def step(*args):\n        y = args[1].sin()\n        print(y)\n",
        "class A:\n    def forward(self, x):\n        print(x)\n        return x.sin()\n\n"  # noqa: ISC004
        "def prepare(model):\n    return torch.compile(model)\n",
        "@other\n@torch.compile\ndef step(x):\n    y = x.sin()\n    print(y)\n    return y\n",
        "def step(x):\n    y = x.sin()\n    print(y)\n    return y\n\na = torch.compile(step)\nb = step(1)\n",
        "def step(x):\n    y = x.sin()\n    print(y)\n    return y\n\na = torch.compile(step, options=o)\n",
        "def step(x):\n    print(x)\n    return x.sin()\n\nf = torch.compile(step), torch.compile(step)\n",
    ],
)
def test_a_function_without_one_place_that_compiles_it_stays(text: str) -> None:
    assert split(text) is None


def test_other_decorators_stay_with_the_function() -> None:
    found = split(
        "@torch.compile\n@torch.no_grad()\ndef step(x):\n    y = x.sin()\n    print(y)\n    return y\n"
    )
    assert found is not None
    assert "@torch.compile\ndef compiled_step(x):" in found[0]
    assert "@torch.no_grad()\ndef step(x):" in found[0]
    assert found[1].safety == "safe"


def test_an_instance_compiles_its_method() -> None:
    found = split(
        """
        class Trainer:
            def __init__(self):
                self.run = torch.compile(self.step)

            def step(self, x):
                y = self.net(x)
                print(y)
                return y
        """
    )
    assert found is not None
    assert "self.run = self.step\n" in found[0]
    assert "    @torch.compile\n    def compiled_step(self, x):\n" in found[0]


BEFORE = "def step(x):\n    return x\n\n\nstep(1)\n"
AFTER = "def compiled_step(x):\n    return x\n\n\ndef step(x):\n    return compiled_step(x)\n\n\nstep(1)\n"


def test_a_run_records_the_calls_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    text = with_watches(SourceFile(FILE, BEFORE), SourceFile(FILE, AFTER))
    assert text.count("\n") == AFTER.count("\n")
    assert text.split("\n")[8] == "step(1)"
    seen: list[tuple[str, str, bool]] = []

    def watch(function: object, part: object, is_method: bool) -> object:
        seen.append((function.__name__, part.__name__, is_method))  # type: ignore[attr-defined]
        return function

    exec(text, {})  # in a process without a recorder
    assert not seen
    monkeypatch.setattr(builtins, "__fullgraph_watch__", watch, raising=False)
    exec(text, {})
    assert seen == [("step", "compiled_step", False)]


def test_a_function_before_another_statement_is_recorded() -> None:
    before = SourceFile(FILE, "def make():\n    def step(x):\n        return x\n    return step\n")
    part = "    def compiled_step(x):\n        return x\n\n"
    after = before.text.replace("def make():\n", f"def make():\n{part}").replace(
        "n x\n    r", "n compiled_step(x)\n    r"
    )
    text = with_watches(before, SourceFile(FILE, after))
    assert text.endswith("(step, compiled_step, False); return step\n")
    ast.parse(text)


@pytest.mark.parametrize(("decorator", "is_method"), [("    @torch.compile\n", False), ("", True)])
def test_a_method_is_recorded_as_it_was_compiled(decorator: str, is_method: bool) -> None:
    before = SourceFile(FILE, f"class A:\n{decorator}    def step(self):\n        pass\n")
    part = "    def compiled_step(self):\n        pass\n\n"
    after = f"class A:\n{part}    def step(self):\n        self.compiled_step()\n"
    assert with_watches(before, SourceFile(FILE, after)).endswith(f"(step, compiled_step, {is_method})")


def test_only_functions_that_an_edit_splits_are_recorded() -> None:
    assert with_watches(SourceFile(FILE, AFTER), SourceFile(FILE, AFTER)) == AFTER
    assert with_watches(None, SourceFile(FILE, AFTER)) == AFTER
    assert with_watches(SourceFile(FILE, BEFORE), SourceFile(FILE, BEFORE)) == BEFORE
    assert part_name("_step", lambda _: False) == "compiled_step"
    assert part_name("__call__", lambda _: False) == "compiled_call"
    assert part_name("step", AFTER.__contains__) == "compiled_step_2"


@pytest.mark.parametrize(
    ("counting", "at"),
    [("state.seen += x.size(0)", "state.seen"), ("losses.append(y.detach())", "losses")],
)
def test_what_torch_counts_in_a_compiled_function_leaves_it(counting: str, at: str) -> None:
    text = HEAD + dedent(
        f"""\
        @torch.compile
        def step(x, w, state, losses):
            y = torch.relu(x @ w)
            {counting}
            return y * 2
        """
    )
    source, found = fixes(text, at, "recompile", number=-1)
    fix = next(item for item in found if item.rule == "split-function")
    after = edited(source, fix.edits)
    part, _, whole = after.partition("def step(")
    assert counting in whole
    assert counting not in part


def test_a_variable_that_a_compiled_function_only_reads_stays() -> None:
    text = HEAD + "@torch.compile\ndef step(x, state):\n    y = x * state.seen\n    return y * 2\n"
    assert not fixes(text, "state.seen", "recompile")[1]


def test_calls_like_the_one_that_breaks_leave_too_and_a_counter_that_is_read_runs_first() -> None:
    text = HEAD + dedent(
        """\
        class Trainer:
            @torch.compile
            def step(self, x):
                begun = time.perf_counter()
                self.steps += 1
                y = torch.relu(x @ self.weight)
                if self.steps > 10:
                    y = y * 2
                self.taken = time.perf_counter() - begun
                return y
        """
    )
    source, found = fixes(text, "time.perf_counter()", "GB0059")
    after = next(edited(source, item.edits) for item in found if item.rule == "split-function")
    assert after == HEAD + dedent(
        """\
        class Trainer:
            @torch.compile
            def compiled_step(self, x):
                y = torch.relu(x @ self.weight)
                if self.steps > 10:
                    y = y * 2
                return y

            def step(self, x):
                begun = time.perf_counter()
                self.steps += 1
                y = self.compiled_step(x)
                self.taken = time.perf_counter() - begun
                return y
        """
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            """
            self.steps += 1
            y = torch.relu(x @ self.weight)
            print(y.sum())
            return y
            """,
            """
            self.steps += 1
            y = self.compiled_step(x)
            print(y.sum())
            return y
            """,
        ),
        (
            """
            z = torch.relu(x @ self.weight)
            print(self.steps, z.sum())
            self.steps += 1
            y = torch.sin(z)
            if self.steps > 10:
                y = torch.cos(y)
            return torch.tanh(y)
            """,
            "",
        ),
        (
            """
            y = torch.relu(x @ self.weight)
            self.steps += 1
            y = torch.tanh(y + self.warmth())
            print(y.sum())
            return y
            """,
            """
            self.steps += 1
            y = self.compiled_step(x)
            print(y.sum())
            return y
            """,
        ),
        (
            """
            y = torch.relu(x @ self.weight) + self.warmth()
            self.steps += 1
            y = torch.tanh(y + self.warmth())
            print(y.sum())
            return y
            """,
            """
            y = self.compiled_step(x)
            print(y.sum())
            return y
            """,
        ),
    ],
    ids=["first", "printed before and read after", "read by a method after", "read by methods"],
)
def test_a_counter_leaves_only_if_nothing_between_may_read_it(body: str, expected: str) -> None:
    head = "class Trainer:\n    @torch.compile\n    def step(self, x):"
    found = split(head + indent(dedent(body), " " * 8))
    after = found[0].partition("def step(self, x):\n")[2] if found is not None else ""
    assert dedent(after).strip() == dedent(expected).strip()


def test_a_number_keeps_its_variable_and_results_keep_the_order_of_the_function() -> None:
    found = split(
        """
        @torch.compile
        def step(x):
            h = torch.relu(x)
            y = torch.tanh(h)
            ratio = (h - y).pow(2).mean().sqrt().item()
            history.append(ratio)
            return ratio < 1.0, y
        """
    )
    assert found is not None
    assert found[0] == dedent(
        """\
        @torch.compile
        def compiled_step(x):
            h = torch.relu(x)
            y = torch.tanh(h)
            ratio = (h - y).pow(2).mean().sqrt()
            return ratio, y


        def step(x):
            ratio, y = compiled_step(x)
            ratio = ratio.item()
            history.append(ratio)
            return ratio < 1.0, y
        """
    )


def test_a_number_gets_another_variable_if_its_own_has_a_value_before() -> None:
    found = split(
        """
        @torch.compile
        def step(x, ratio):
            y = torch.tanh(x * ratio)
            ratio = y.mean().sqrt().item()
            return y
        """
    )
    assert found is not None
    assert "ratio = y_mean_sqrt.item()" in found[0]


def test_a_student_and_its_teacher_are_compiled_in_one_place() -> None:
    text = """\
        class Net(nn.Module):
            def forward(self, x):
                y = x.sin()
                history.append(y.sum().item())
                return y

        class Loss(nn.Module):
            def forward(self, s, t):
                return (s - t).square().mean()

        student = Net()
        teacher = copy.deepcopy(student).eval()
        fast, slow = torch.compile(student), torch.compile(teacher)
        loss = torch.compile(Loss())
    """
    got = split(text)
    assert got is not None
    assert got[0].count("@torch.compile\n") == 1
    assert "fast, slow = student, teacher\n" in got[0]
    assert "loss = torch.compile(Loss())\n" in got[0]
    assert split(text.replace("torch.compile(teacher)", "torch.compile(teacher, dynamic=True)")) is None
    assert split(text.replace("copy.deepcopy(student)", "load()")) is None
    assert split(text.replace("copy.deepcopy(student)", "Net()")) is not None


def test_compile_calls_that_leave_an_empty_block_stay() -> None:
    text = """\
        class Net(nn.Module):
            def forward(self, x):
                y = x.sin()
                history.append(y.sum().item())
                return y

        student = Net()
        teacher = Net()
        if fast:
            student = torch.compile(student)
            teacher = torch.compile(teacher)
    """
    assert split(text) is None
    assert split(text.replace("if fast:", "if fast:\n            print()")) is not None


def test_a_number_that_a_moved_value_needs_stays_in_the_part() -> None:
    got = split(
        """\
        @torch.compile
        def step(x):
            y = x.sin()
            scale = 2.0
            history.append((y * scale).sum().item())
            return y
        """
    )
    assert got is not None
    assert "    scale = 2.0\n    y_sum = (y * scale).sum()\n" in got[0]


def test_a_constant_that_only_later_statements_read_stays_out_of_the_part() -> None:
    got = split(
        """\
        @torch.compile
        def step(x):
            y = x.sin()
            found = []
            for item in y:
                history.append(item.sum().item())
            return found
        """
    )
    assert got is not None
    assert "    return x.sin()\n" in got[0]
    assert "    y = compiled_step(x)\n    found = []\n" in got[0]


TRAINER = """
class Trainer:
    def __init__(self, net):
        self.net = net
        self.fast = torch.compile(self.step, dynamic=False)

    def step(self, x):
        loss = self.net(x).square().mean()
        history.append(loss.item())
        return loss

    def train(self, x):
        {use}
"""


def test_the_attribute_of_a_compiled_method_leaves_with_the_compilation() -> None:
    found = split(TRAINER.format(use="self.fast(x).backward()"))
    assert found is not None
    assert found[0] == dedent(
        """\
        class Trainer:
            def __init__(self, net):
                self.net = net

            @torch.compile(dynamic=False)
            def compiled_step(self, x):
                return self.net(x).square().mean()

            def step(self, x):
                loss = self.compiled_step(x)
                history.append(loss.item())
                return loss

            def train(self, x):
                self.step(x).backward()
        """
    )
    code = code_of(SourceFile(FILE, HEAD + TRAINER.format(use="self.fast(x).backward()")))
    assert code is not None
    site = site_of(code, next(item for item in code.functions() if item.name == "step"))
    assert site is not None
    assert (site.alias, site.reason.rpartition(". ")[2]) == ("fast", "The attribute `fast` is gone.")


@pytest.mark.parametrize("use", ["self.fast = self.step", "getattr(self, 'fast')(x)"])
def test_an_attribute_that_others_may_use_stays(use: str) -> None:
    found = split(TRAINER.format(use=f"self.fast(x)\n        {use}"))
    assert found is not None
    assert "self.fast = self.step\n" in found[0]
