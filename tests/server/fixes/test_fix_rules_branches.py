"""Branches on data that write into tensors, have further branches, or print: what the rules make of them."""

from __future__ import annotations

import pytest
from fixing import body, edited, fixes, results

HEAD = "import torch\n\n"
IN_PLACE = [
    pytest.param(
        """
        if now > self.amax:
            self.amax.copy_(now)
        """,
        """
        self.amax.copy_(torch.where(now > self.amax, now, self.amax))
        """,
        id="a buffer",
    ),
    pytest.param(
        """
        if now > self.amax:
            self.mean.copy_(x.mean())
            self.ready.fill_(True)
            return
        self.mean.lerp_(x.mean(), self.momentum)
        """,
        """
        taken = now > self.amax
        self.mean.copy_(torch.where(taken, x.mean(), self.mean.lerp(x.mean(), self.momentum)))
        self.ready.copy_(torch.where(taken, True, self.ready))
        """,
        id="both arms",
    ),
    pytest.param(
        """
        if now > self.amax:
            x[0] = 1
        """,
        """
        taken = now > self.amax
        x[0] = torch.where(taken, 1, x[0])
        """,
        id="an item",
    ),
    pytest.param(
        """
        if now > self.amax:
            low, high = x, now
        else:
            low = x * 2
            high = now * 2
        x = low + high
        """,
        """
        taken = now > self.amax
        low = torch.where(taken, x, x * 2)
        high = torch.where(taken, now, now * 2)
        x = low + high
        """,
        id="several at once",
    ),
    pytest.param(
        """
        if now > self.amax:
            x = x * 2
        elif now > 3:
            mean = x.mean()
            x = x - mean
        else:
            x = -x
        """,
        """
        taken = now > self.amax
        other = torch.logical_not(taken)
        taken_2 = other & (now > 3)
        other_2 = other & torch.logical_not(taken_2)
        x = torch.where(taken, x * 2, x)
        mean = x.mean()
        x = torch.where(taken_2, x - mean, x)
        x = torch.where(other_2, -x, x)
        """,
        id="further branches",
    ),
]


def function(statements: str) -> str:
    """A method with statements, which returns ``x``."""
    lines = "".join(f"    {line}\n" if line else "\n" for line in body(statements).splitlines())
    return f"def f(self, x, now):\n{lines}"


@pytest.mark.parametrize(("before", "after"), IN_PLACE)
def test_a_branch_writes_what_its_condition_chooses(before: str, after: str) -> None:
    text = HEAD + function(before) + "    return x\n" * ("return" not in before)
    got = results(text, "now > self.amax", "GB0170")
    assert function(after) in got["where"]


CHANGED = {
    "a variable": ("now = now + 1", "now > 2"),
    "an attribute": ("self.n = self.n + 1", "self.n * 2 > 155"),
    "what a view shows": ("self.buf.add_(1)", "flat.sum() > 155"),
    "an item": ("x[0] = 1", "flat.sum() > 155"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_condition_that_may_change_before_it_is_computed_stays(name: str) -> None:
    statement, test = CHANGED[name]
    text = HEAD + function(f"if now > self.amax:\n    {statement}\n    if {test}:\n        x = x + 1\n")
    assert "where" not in results(text + "    return x\n", "now > self.amax", "GB0170")


@pytest.mark.parametrize(
    ("statement", "safety", "told"),
    [
        ("x = x + 1", "safe", ""),
        ("self.best.copy_(x)", "unsafe", "another dtype or device than `self.best`"),
        ("self.best = x", "unsafe", "`self.best` is another tensor after each call"),
    ],
)
def test_what_other_code_notices_of_a_write_is_told(statement: str, safety: str, told: str) -> None:
    text = HEAD + function(f"if now > self.amax:\n    {statement}\n") + "    return x + 1\n"
    _, found = fixes(text, "now > self.amax", "GB0170")
    [fix] = [item for item in found if item.rule == "where"]
    assert fix.safety == safety
    assert told in fix.change


def test_a_check_for_any_element_may_be_left_out() -> None:
    text = HEAD + "def f(x, bad):\n    if bad.any():\n        x = x.masked_fill(bad, 0)\n    return x\n"
    got = results(text, "bad.any()", "GB0170")
    assert "def f(x, bad):\n    x = x.masked_fill(bad, 0)\n    return x\n" in got["always"]
    assert list(got)[:2] == ["always", "where"]


def test_what_a_branch_prints_is_printed_uncompiled() -> None:
    text = HEAD + 'def f(x, bad):\n    if bad.any():\n        print("bad")\n    return x\n'
    got = results(text, "bad.any()", "GB0170")
    guard = "    if not torch.compiler.is_compiling() and bad.any():\n        print"
    assert guard in got["print-uncompiled"]
    more = text.replace('print("bad")\n', 'print("bad")\n        x = x.masked_fill(bad, 0)\n')
    got = results(more, "bad.any()", "GB0170")
    assert guard in got["always"]
    assert '("bad")\n    x = x.masked_fill(bad, 0)\n    return x\n' in got["always"]


def test_a_turn_that_is_skipped_without_elements_runs_always() -> None:
    head = HEAD + "def f(x, m):\n    for e in range(3):\n        i = torch.where(m == e)[0]\n"
    skip = "        if i.numel() == 0:\n            continue\n"
    rest = "        # scatter back\n        x.index_add_(0, i, x[i] * 2)  # twice\n    return x\n"
    assert results(head + skip + rest, "i.numel()", "GB0170")["always"] == head + rest
    more = skip.replace("continue", "x = x + 1\n            continue")
    assert "always" not in results(head + more + rest, "i.numel()", "GB0170")


def test_a_divisor_that_is_tested_is_at_least_one() -> None:
    text = HEAD + "def f(x, n):\n    if n > 0:\n        y = x.sum() / n\n    else:\n        y = x.sum() * 0\n"
    got = results(text + "    return y\n", "n > 0", "GB0170")
    assert "y = torch.where(n > 0, x.sum() / n, x.sum() * 0)\n" in got["where"]
    source_and_fixes = _all(text + "    return y\n", "n > 0", "GB0170", "where")
    plain, chosen = (item.partition("(n > 0, ")[2].partition("\n")[0] for item in source_and_fixes)
    assert plain == "x.sum() / n, x.sum() * 0)"
    assert chosen == "x.sum() / torch.where(n > 0, n, 1), x.sum() * 0)"
    counted = text.replace("(x, n):\n", "(x, m):\n    found = m > 0\n    n = found.sum()\n")
    source_and_fixes = _all(counted + "    return y\n", "n > 0", "GB0170", "where")
    assert any("x.sum() / n.clamp(min=1), x.sum() * 0)" in item for item in source_and_fixes)


def test_a_divisor_that_the_condition_rules_out_is_one() -> None:
    text = (
        HEAD + "def f(x):\n    peak = x.abs().max()\n    if peak > 0:\n        x = x / peak\n    return x\n"
    )
    source, found = fixes(text, "peak > 0", "GB0170")
    lines = [edited(source, fix.edits) for fix in found if fix.rule == "where"]
    assert any("torch.where(peak > 0, x / torch.where(peak > 0, peak, 1), x)" in item for item in lines)


def test_a_long_choice_has_one_argument_per_line() -> None:
    value = " + ".join(f"x.clamp(min={number}).square().mean()" for number in range(4))
    text = (
        HEAD
        + f"def f(x):\n    if x.sum() > 0:\n        y = {value}\n    else:\n        y = x\n    return y\n"
    )
    got = results(text, "x.sum() > 0", "GB0170")["where"]
    assert (
        f"    y = torch.where(\n        x.sum() > 0,\n        {value},\n        x,\n    )\n    return y\n"
        in got
    )


def test_a_message_with_values_is_written_without() -> None:
    text = HEAD + 'def f(x):\n    assert x.isfinite().all(), f"bad values: {x.norm()}"\n    return x\n'
    got = results(text, "x.isfinite().all()", "GB0170")
    assert 'assert x.isfinite().all(), "bad values"\n' in got["constant-message"]
    assert 'torch._assert_async(x.isfinite().all(), "bad values")\n' in got["assert-async"]


@pytest.mark.parametrize("test", ["torch.equal(x, y)", "torch.allclose(x, y)"])
def test_a_comparison_of_whole_tensors_is_told(test: str) -> None:
    text = HEAD + f"def f(x, y):\n    if {test}:\n        y = -y\n    return y + 1\n"
    _, found = fixes(text, test, "GB0033")
    [fix] = [item for item in found if item.rule == "where"]
    assert fix.safety == "unsafe"
    assert "Tensors of different shapes are compared element by element." in fix.change


REDUCED = [
    ("(a[m] - b[m]).abs().mean()", "(torch.where(m, a, 0) - torch.where(m, b, 0)).abs().sum() / m.sum()"),
    ("(a * 2)[m].pow(2).sum()", "torch.where(m, (a * 2), 0).pow(2).sum()"),
    (
        "F.mse_loss(a[m], b[m])",
        'F.mse_loss(torch.where(m, a, 0), torch.where(m, b, 0), reduction="sum") / m.sum()',
    ),
    (
        'F.cross_entropy(a[m], b[m], reduction="sum")',
        'torch.where(m, F.cross_entropy(a, torch.where(m, b, 0), reduction="none"), 0).sum()',
    ),
]


@pytest.mark.parametrize(("before", "after"), REDUCED, ids=[item[0] for item in REDUCED])
def test_a_reduction_of_selected_elements_is_computed_on_all(before: str, after: str) -> None:
    text = HEAD + f"def f(a, b, m):\n    return {before}\n"
    selection = "(a * 2)[m]" if "* 2" in before else "a[m]"
    assert f"    return {after}\n" in results(text, selection, "GB0036")["masked-reduction"]


def test_a_loss_that_is_not_zero_for_zeros_is_left_out_and_its_inputs_are_set_to_zero() -> None:
    text = (
        HEAD + "def f(a, b, m):\n    return F.binary_cross_entropy_with_logits(a[m], b[m], reduction='sum')\n"
    )
    source, found = fixes(text, "a[m]", "GB0036")
    inner = "F.binary_cross_entropy_with_logits(torch.where(m, a, 0), torch.where(m, b, 0)"
    expected = f'    return torch.where(m, {inner}, reduction="none"), 0).sum()\n'
    assert any(expected in edited(source, fix.edits) for fix in found)


@pytest.mark.parametrize(
    "text", ["F.l1_loss(a[m], b, reduction=how)", "g(a[m]).sum()", "a[m].sum(0)", "a[m].cumsum(0)"]
)
def test_another_reduction_of_selected_elements_stays(text: str) -> None:
    text = HEAD + f"def f(a, b, m, g, how):\n    return {text}\n"
    assert "masked-reduction" not in results(text, "a[m]", "GB0036")


WRITTEN = [
    ("x[m] = 2 - x[m]", "x.copy_(torch.where(m, 2 - x, x))"),
    ("x[m] *= -a", "x.copy_(torch.where(m, x * -a, x))"),
    ("x[m] += a + 1", "x.copy_(torch.where(m, x + (a + 1), x))"),
    ("x[m] = a[m]", "x.copy_(torch.where(m, a, x))"),
    ("x[:, 0][m] = a[m] if b else 0.0", "x[:, 0] = torch.where(m, a if b else 0.0, x[:, 0])"),
    ("x[0][m] = a[m]", "x[0].copy_(torch.where(m, a, x[0]))"),
]


@pytest.mark.parametrize(("before", "after"), WRITTEN, ids=[item[0] for item in WRITTEN])
def test_a_write_through_a_mask_chooses_elements(before: str, after: str) -> None:
    text = HEAD + f"def f(x, a, m):\n    {before}\n    return x\n"
    got = results(text, "a[m]" if "a[m]" in before else "x[m]", "GB0036")
    assert f"    {after}\n" in got["masked-fill"]


@pytest.mark.parametrize(
    ("before", "is_own"),
    [
        ("near = torch.full_like(x, 9.0)", True),
        ("near = x * 2", True),
        ("near = x * 2\n    near += 1", True),
        ("near = x", False),
        ("near = x.view(-1)", False),
        ("near = x * 2\n    kept.append(near)", False),
        ("near = x * 2\n    other = near", False),
        ("near = x * 2\n    pair = [near, x]", False),
        ("near = x * 2\n    flat = near.view(-1)", False),
        ("near = x * 2\n    old = near if kept else x", False),
        ("near = x * 2\n    kept.remember(last=near)", False),
        ("near = x * 2\n    kept.max(near)", False),
        ("near: torch.Tensor = a", False),
        ("near = x * 2\n    first = near[0]", False),
        ("near = x * 2\n    top = near.max(-1)", True),
        ("near = other = x * 2", False),
        ("near, other = x.chunk(2)", False),
        ("near = kept.norm(x)", False),
        ("near = min(kept, key=len)", False),
        ("global near\n    near = x * 2", False),
        ("near = x * 2\n    late = lambda: near", False),
    ],
)
def test_only_a_variable_that_alone_holds_a_new_tensor_is_assigned(before: str, is_own: bool) -> None:
    text = HEAD + f"def f(x, a, m, kept):\n    {before}\n    near[m] = a[m]\n    return near.sum()\n"
    new = results(text, "a[m]", "GB0036")["masked-fill"]
    assert ("    near = torch.where(m, a, near)\n" in new) is is_own
    assert ("    near.copy_(torch.where(m, a, near))\n" in new) is not is_own


def test_a_number_that_only_one_arm_needs_stays_a_tensor_and_a_count_is_printed_as_a_number() -> None:
    text = HEAD + body(
        """
        def f(norms, limit):
            clipped = 0
            total = 0.0
            for norm in norms:
                if norm > limit:
                    scale = limit / norm.item()
                    clipped += 1
                    total += norm
                else:
                    scale = 1.0
                print(scale)
            print(f"clipped {clipped} of {len(norms)}, {total:.2f}", clipped)
        """
    )
    lines = [
        "        taken = norm > limit",
        "        scale = torch.where(taken, limit / norm, 1.0)",
        "        clipped = torch.where(taken, clipped + 1, clipped)",
        "        total = torch.where(taken, total + norm, total)",
        "        print(scale)",
        '    print(f"clipped {int(clipped)} of {len(norms)}, {total:.2f}", int(clipped))',
    ]
    found = _all(text, "norm > limit", "GB0170", "where")
    assert found[0].endswith("\n".join(lines) + "\n")
    assert "torch.where(taken, limit / norm.detach(), 1.0)" in found[1]
    assert not any(".item()" in item for item in found)


@pytest.mark.parametrize(
    ("step", "rest", "printed"),
    [
        ("total += 2", "print(total)", "print(int(total))"),
        ("total += x.mean()", "print(total)", "print(total)"),
        ("total += 2", 'print(f"{total=}")', 'print(f"{total=}")'),
        ("total += 2", 'total = f"{total} hits"; print(total)', 'total = f"{total} hits"; print(total)'),
        ("total += 2", "show = lambda total: print(total)", "show = lambda total: print(total)"),
    ],
)
def test_only_what_stays_a_number_is_printed_as_one(step: str, rest: str, printed: str) -> None:
    lines = ["def f(x):", "total = 0", f"if x.sum() > 0:\n        {step}", rest, "return total\n"]
    text = HEAD + "\n    ".join(lines)
    assert f"    {printed}\n" in results(text, "x.sum() > 0", "GB0170")["where"]


def test_what_is_counted_in_a_tensor_is_printed_as_a_number() -> None:
    text = HEAD + body(
        """
        class Model:
            def step(self, x):
                self.seen += int(x.sum())
                low = x.min().item()
                print("low", low, f"{low}", f"{low:.2f}", low + 1)

        model = Model()
        print("seen", model.seen, f"{model.seen}", model.seen / 2)
        """
    )
    (found,) = _all(text, "int(x.sum())", "GB0124", "stay-tensor")
    assert "        self.seen += x.sum().long()\n" in found
    assert 'print("seen", int(model.seen), f"{int(model.seen)}", model.seen / 2)\n' in found
    found = _all(text, "x.min().item()", "GB0124", "stay-tensor")[0]
    assert 'print("low", float(low), f"{float(low)}", f"{low:.2f}", low + 1)\n' in found


def test_a_function_of_math_is_computed_on_the_tensor() -> None:
    text = (
        HEAD
        + "def f(x, log):\n    log.append(math.exp(x.mean().item()))\n    return math.floor(x.sum().item())\n"
    )
    found = _all(text, "x.mean().item()", "GB0124", "stay-tensor")
    assert [item.splitlines()[3].strip() for item in found] == [
        "log.append(x.mean().exp())",
        "log.append(x.mean().detach().exp())",
    ]
    found = _all(text, "x.sum().item()", "GB0124", "stay-tensor")
    assert found[0].splitlines()[4].strip() == "return math.floor(x.sum())"


def test_a_number_that_stays_a_tensor_has_no_gradient() -> None:
    text = HEAD + "def f(x, log):\n    log.append(x.mean().item())\n    return int(x.sum())\n"
    found = _all(text, "x.mean().item()", "GB0124", "stay-tensor")
    assert [item.splitlines()[3].strip() for item in found] == [
        "log.append(x.mean())",
        "log.append(x.mean().detach())",
        "log.append(x.mean().detach().clone())",
    ]
    found = _all(text, "int(x.sum())", "GB0124", "stay-tensor")
    assert [item.splitlines()[4].strip() for item in found] == ["return x.sum().long()"]


def _all(text: str, at: str, code: str, rule: str) -> list[str]:
    source, found = fixes(text, at, code)
    return [edited(source, fix.edits) for fix in found if fix.rule == rule]
