"""The fixes of values, tensors, Python and context managers: what each rule makes of a text."""

from __future__ import annotations

import pytest
from fixing import body, fixes, results
from fullgraph_server.fixes.editing import edited

HEAD = "import torch\n\n"


def function(*statements: str) -> str:
    return HEAD + "def f(x, y):\n" + "".join(f"    {line}\n" for line in statements)


ANY = "s = torch.where(y, x, 0).any()"
OUT = "torch.add(x, 1, out=y)"
WIDE = "dtype=torch.promote_types(x.dtype, torch.float32)"
DRAW = 'x.uniform_(**{"from": 1, "to": 2})'
REWRITES = [
    ("GB0124", "x.max().item()", "stay-tensor", "s = x.max().item()", "s = x.max()"),
    ("GB0109", "x.tolist()", "unbind", "a, b = x.tolist()", "a, b = x.unbind()"),
    ("GB0036", "x[x > 0]", "masked-sum", "s = x[x > 0].sum()", "s = torch.where(x > 0, x, 0).sum()"),
    ("GB0036", "y[y > 0]", "masked-fill", "x[y > 0] = y[y > 0]", "x.copy_(torch.where(y > 0, y, x))"),
    (
        "GB0036",
        "torch.bincount(x, minlength=5)",
        "scatter-bincount",
        "n = torch.bincount(x, minlength=5)",
        "n = torch.zeros(5, dtype=torch.long, device=x.device).scatter_add(0, x, torch.ones_like(x))",
    ),
    (
        "GB0036",
        "torch.bincount(x, minlength=5)",
        "index-add",
        "y += torch.bincount(x, minlength=5)",
        "y.index_add_(0, x, torch.ones_like(x, dtype=y.dtype))",
    ),
    ("GB0036", "x[x > 0]", "masked-product", "s = x[x > 0].prod()", "s = torch.where(x > 0, x, 1).prod()"),
    ("GB0036", "x[y]", "masked-any", "s = x[y].any()", ANY),
    ("GB0036", "x[y]", "masked-all", "z = x[y]; s = z.all()", "z = torch.where(y, x, 1); s = z.all()"),
    (
        "GB0036",
        "x[x > 0]",
        "masked-mean",
        "s = 1 + x[x > 0].mean()",
        f"s = 1 + (torch.where(x > 0, x, 0).sum({WIDE}) / (x > 0).sum()).to(x.dtype)",
    ),
    (
        "GB0036",
        "y.nonzero(as_tuple=True)",
        "masked-sum",
        "s = x[y.nonzero(as_tuple=True)].sum()",
        "s = torch.where(y != 0, x, 0).sum()",
    ),
    (
        "GB0036",
        "torch.where(y > 1)",
        "masked-mean",
        "s = x[torch.where(y > 1)].mean()",
        f"s = (torch.where(y > 1, x, 0).sum({WIDE}) / (y > 1).sum()).to(x.dtype)",
    ),
    (
        "GB0036",
        "torch.masked_select(x, y)",
        "masked-sum",
        "s = torch.masked_select(x, y).sum()",
        "s = torch.where(y, x, 0).sum()",
    ),
    ("GB0036", "x.masked_select(y)", "masked-any", "s = x.masked_select(y).any()", ANY),
    ("GB0036", "torch.where(y)", "mask-index", "x[torch.where(y)] = 0", "x[y != 0] = 0"),
    ("GB0036", "x.nonzero()", "count-nonzero", "n = len(x.nonzero())", "n = x.count_nonzero()"),
    (
        "GB0036",
        "torch.nonzero(x > 0)",
        "count-nonzero",
        "n = torch.nonzero(x > 0).shape[0]",
        "n = (x > 0).count_nonzero()",
    ),
    ("GB4198", "copy.deepcopy(x)", "clone", "z = copy.deepcopy(x)", "z = x.detach().clone()"),
    ("GB0242", OUT, "write-through", OUT, "y.copy_(torch.add(x, 1))"),
    ("GB0247", OUT, "new-tensor", OUT, "y = torch.add(x, 1)"),
    ("GB0056", "x.data", "write-through", "x.data = y + 1", "x.detach().copy_(y + 1)"),
    ("GB0126", "x.resize_(2, 2)", "new-tensor", "x.resize_(2, 2)", "x = x.reshape(2, 2)"),
    (
        "GB0107",
        "torch.empty_like(x).random_(0, 5)",
        "randint-like",
        "z = torch.empty_like(x).random_(0, 5)",
        "z = torch.randint_like(torch.empty_like(x), 0, 5)",
    ),
    ("GB0107", "x.random_(5)", "randint-like", "x.random_(5)", "x.copy_(torch.randint_like(x, 5))"),
    ("GB0110", DRAW, "positional", DRAW, "x.uniform_(1, 2)"),
    ("GB0025", "torch._dynamo.graph_break()", "remove-break", "torch._dynamo.graph_break(); x = 1", "x = 1"),
    ("GB0134", "groupby(x, y)", "keyword", "g = groupby(x, y)", "g = groupby(x, key=y)"),
    ("GB0104", "x.grad_fn", "requires-grad", "z = x.grad_fn is None", "z = not x.requires_grad"),
    ("GB6297", "M.apply(x, x)", "distinct-inputs", "z = M.apply(x, x)", "z = M.apply(x, x.clone())"),
    ("GB0290", "np.add.accumulate(x)", "other-numpy", "z = np.add.accumulate(x)", "z = np.cumsum(x, axis=0)"),
    (
        "GB0298",
        "np.random.uniform(size=2)",
        "torch-random",
        "z = torch.from_numpy(np.random.uniform(size=2))",
        "z = torch.rand(2, dtype=torch.float64)",
    ),
    ("GB0264", "torch.nn.Parameter(x)", "no-parameter", "w = torch.nn.Parameter(x)", "w = x.detach()"),
    ("GB0257", "Options(a=1)", "plain-dict", "o = Options(a=1)", "o = dict(a=1)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "at", "rule", "before", "after"), REWRITES, ids=[item[3] for item in REWRITES]
)
def test_a_statement_is_written_otherwise(code: str, at: str, rule: str, before: str, after: str) -> None:
    got = results(function(before, "return x"), at, code)
    assert got[rule] == function(after, "return x")


SELECTIONS = (
    ("x[y]", "s = x[y].max()"),
    ("x[y]", "z = x[y]; s = z.sum() + len(z)"),
    ("x[y]", "s = x[y].sum(0)"),
    ("x[next(y)]", "s = x[next(y)].mean()"),
    ("x.nonzero()", "n = x.nonzero().shape"),
    ("x.nonzero()", "n = x.nonzero().shape[1]"),
    ("x.nonzero()", "x[x.nonzero()] = 0"),
    ("torch.repeat_interleave(x, y, output_size=3)", "z = torch.repeat_interleave(x, y, output_size=3)"),
    ("torch.repeat_interleave(x, next(y))", "z = torch.repeat_interleave(x, next(y))"),
    ("x.repeat_interleave(*y)", "z = x.repeat_interleave(*y)"),
)


@pytest.mark.parametrize(("at", "statement"), SELECTIONS, ids=[item[1] for item in SELECTIONS])
def test_a_selection_that_is_used_otherwise_stays(at: str, statement: str) -> None:
    assert list(results(function(statement, "return s"), at, "GB0036")) == ["capture-dynamic-shapes"]


@pytest.mark.parametrize(
    ("call", "size"),
    [
        ("torch.repeat_interleave(x, y)", "int(y.sum())"),
        ("torch.repeat_interleave(y)", "int(y.sum())"),
        ("x.repeat_interleave(y + 1, dim=0)", "int((y + 1).sum())"),
        ("torch.repeat_interleave(x, repeats=y)", "int(y.sum())"),
    ],
)
def test_repeated_elements_are_counted_first(call: str, size: str) -> None:
    got = results(function(f"z = {call}", "return z"), call, "GB0036")
    assert list(got) == ["repeat-output-size", "capture-dynamic-shapes"]
    assert f"    z = {call[:-1]}, output_size={size})\n" in got["repeat-output-size"]
    assert "torch._dynamo.config.capture_scalar_outputs = True\n" in got["repeat-output-size"]


SETTINGS = [
    ("GB0124", "x.item()", "capture-scalars", "capture_scalar_outputs = True"),
    ("GB0036", "x.nonzero()", "capture-dynamic-shapes", "capture_dynamic_output_shape_ops = True"),
    ("GB9186", "g(x)", "config-trace-autograd-ops", "trace_autograd_ops = True"),
]


@pytest.mark.parametrize(("code", "at", "rule", "setting"), SETTINGS)
def test_a_setting_stands_behind_the_imports(code: str, at: str, rule: str, setting: str) -> None:
    text = function(f"z = {at}", "return z")
    line = f"import torch\n\ntorch._dynamo.config.{setting}\n"
    assert results(text, at, code)[rule] == text.replace("import torch\n", line, 1)


def test_a_setting_that_the_file_has_is_turned() -> None:
    text = function("z = x.numpy()", "return z") + "\ntorch._dynamo.config.trace_numpy = False\n"
    assert results(text, "x.numpy()", "GB0105") == {"config-trace-numpy": text.replace("False", "True")}


def test_a_number_that_is_a_size_is_captured_first() -> None:
    got = results(function("n = x.item()", "return y[:n]"), "x.item()", "GB0124")
    assert list(got) == ["capture-checked-scalars", "capture-scalars", "stay-tensor"]
    assert "    n = x.item()\n    torch._check(n >= 0)\n" in got["capture-checked-scalars"]


def test_an_import_goes_to_the_head() -> None:
    text = function("try:", "    import fast", "except ImportError:", "    fast = None", "return fast")
    got = results(text, "import fast", "GB0069")["import-at-head"]
    assert got.startswith("import torch\n\ntry:\n    import fast\nexcept ImportError:\n    fast = None\n")
    assert got.endswith("def f(x, y):\n    return fast\n")


def test_a_lock_is_held_around_the_call() -> None:
    text = HEAD + "LOCK = Lock()\n\n\ndef f(x):\n    with LOCK:  # one at a time\n"
    text += "        x = x + 1\n    return x\n\n\nf(1)\n"
    got = results(text, "LOCK", "GB0142", compiled="f", calls=("f(1)",), number=1)
    unwrapped = "def f(x):\n    # one at a time\n    x = x + 1\n    return x\n\n\n"
    assert got["around-call"].endswith(f"{unwrapped}with LOCK:\n    f(1)\n")
    assert got["without-context"].endswith(f"{unwrapped}f(1)\n")


def test_a_decorator_that_keeps_torch_out_is_removed() -> None:
    text = HEAD + "@torch.compiler.disable\ndef g(x):\n    return x\n\n\ndef f(x):\n    return g(x)\n"
    got = results(text, "g(x)", "GB0098", number=1)
    assert got == {"trace-function": text.replace("@torch.compiler.disable\n", "")}


def test_super_is_called() -> None:
    text = "from torch import nn\n\n\nclass A(nn.Module):\n    def __init__(self):\n"
    text += '        """Text."""\n        self.a = 1\n'
    got = results(text, "self.a", "GB0119")
    assert got["call-super-init"] == text.replace(
        "        self.a", "        super().__init__()\n        self.a"
    )


def test_a_value_is_passed_in() -> None:
    text = HEAD + "def f(x, name):\n    y = x * 2\n    key = crc(name)\n"
    text += "    return y + key\n\n\nf(torch.ones(2), b'a')\n"
    text = text.replace("import torch\n", "import torch\nfrom zlib import crc\n")
    got = results(text, "crc(name)", "GB0007", compiled="f", calls=("f(torch.ones(2), b'a')",))
    assert list(got) == ["pass-in"]
    assert "def f(x, name, key):\n    y = x * 2\n    return y + key\n" in got["pass-in"]
    assert got["pass-in"].endswith("\nf(torch.ones(2), b'a', key=crc(b'a'))\n")


def test_a_value_that_two_variables_get_is_not_passed() -> None:
    text = (
        "import torch\nimport zlib\n\n\ndef crc(name):\n    return zlib.crc32(name)\n\n\n"
        "def f(x, name):\n    crc = key = zlib.crc32(name)\n    return x + crc + key\n\n\n"
        "f(torch.ones(2), b'a')\n"
    )
    got = results(
        text, "zlib.crc32(name)", "GB0007", compiled="f", calls=("f(torch.ones(2), b'a')",), number=1
    )
    assert "pass-in" in got
    crc32 = text.replace("crc = key", "crc32 = key").replace("x + crc", "x + crc32")
    got = results(
        crc32, "zlib.crc32(name)", "GB0007", compiled="f", calls=("f(torch.ones(2), b'a')",), number=1
    )
    assert "pass-in" not in got


def test_a_value_of_something_local_is_not_passed_in() -> None:
    text = HEAD + "def f(x):\n    y = x * 2\n    key = str(y)\n    return key\n\n\nf(1)\n"
    assert results(text, "str(y)", "GB0005", compiled="f", calls=("f(1)",)) == {}
    text = HEAD + "def f(x):\n    x = x * 2\n    key = str(x)\n    return key\n\n\nf(1)\n"
    assert results(text, "str(x)", "GB0005", compiled="f", calls=("f(1)",)) == {}
    text = HEAD + "def f(x):\n    key = str(x)\n    return key\n\n\ng = f\nf(1)\n"
    assert results(text, "str(x)", "GB0005", compiled="f", calls=("f(1)",)) == {}


def test_a_constant_is_computed_for_the_module() -> None:
    text = "import datetime\n\n\n@torch.compile\ndef f(x):\n    return x, datetime.timedelta(1)\n"
    got = results(text, "datetime.timedelta(1)", "GB0147")
    assert got == {}  # the calls of a function are needed to know that it was compiled
    text += "\n\nf(1)\n"
    got = results(text, "datetime.timedelta(1)", "GB0147", compiled="f", calls=("f(1)",))
    constant = "TIMEDELTA = datetime.timedelta(1)\n\n\n@torch.compile\ndef f(x):\n    return x, TIMEDELTA\n"
    assert constant in got["module-constant"]


def test_gradients_are_asked_for_before_the_call() -> None:
    text = HEAD + "def f(x):\n    x.requires_grad = True\n    return x\n\n\nf(torch.ones(2))\n"
    got = results(text, "x.requires_grad", "GB0206", compiled="f", calls=("f(torch.ones(2))",))
    end = "x_2 = torch.ones(2)\nx_2.requires_grad = True\nf(x_2)\n"
    without = HEAD + "def f(x):\n    return x\n\n\nf(torch.ones(2))\n"
    assert got == {
        "before-call": HEAD + f"def f(x):\n    return x\n\n\n{end}",
        "without-requires-grad": without,
    }


@pytest.mark.parametrize(
    ("before", "at", "after"),
    [
        ("return torch.zeros_like(x).requires_grad_()", "torch.zeros_like(x).requires_grad_()",
         "return torch.zeros_like(x)"),
        ("y = x[:, None]\n    y.requires_grad_()\n    return y", "y.requires_grad_()",
         "y = x[:, None]\n    return y"),
    ],
)  # fmt: skip
def test_a_tensor_may_do_without_gradients(before: str, at: str, after: str) -> None:
    got = results(HEAD + f"def f(x):\n    {before}\n", at, "GB8985")
    assert got["without-requires-grad"] == HEAD + f"def f(x):\n    {after}\n"


def test_a_tensor_that_is_moved_stays_in_a_variable() -> None:
    text = body(
        """
        import torch


        class Model(torch.nn.Module):
            def forward(self, x):
                self.table = self.table.to(x.device)
                return x + self.table[0] * self.table.sum()
        """
    )
    assert results(text, "self.table = self.table.to(x.device)", "GB4841")["local-copy"] == body(
        """
        import torch


        class Model(torch.nn.Module):
            def forward(self, x):
                table = self.table.to(x.device)
                return x + table[0] * table.sum()
        """
    )


SLICES = [
    (
        ("a = torch.randint(0, 4, (1,)).item()", "x[..., a : a + 2] = 0"),
        (
            "a = torch.randint(0, 4, ())",
            "positions = torch.arange(x.size(-1), device=x.device)",
            "x.masked_fill_((positions >= a.to(x.device)) & (positions < (a + 2).to(x.device)), 0)",
        ),
    ),
    (
        ("a = y.max().item()", "x[..., a:, :] *= 0.5"),
        (
            "a = y.max().long()",
            "positions = torch.arange(x.size(-2), device=x.device)",
            "x.copy_(torch.where((positions >= a).unsqueeze(-1), x * 0.5, x))",
        ),
    ),
    (
        (
            "h = x.size(0)",
            "a = int(y.max())",
            "b = int(y.argmax().item())",
            "low = max(0, a - 2)",
            "high = min(a + 2, h)",
            "x[low:high, :b] = y[low:high, :b]",
        ),
        (
            "h = x.size(0)",
            "a = y.max().long()",
            "b = y.argmax()",
            "low = (a - 2).clamp(min=0)",
            "high = (a + 2).clamp(max=h)",
            "rows = torch.arange(x.size(0), device=x.device)",
            "columns = torch.arange(x.size(1), device=x.device)",
            (
                "x.copy_(torch.where(((rows >= low) & (rows < high)).unsqueeze(-1) & (columns < b), "
                "y.to(x.dtype), x))"
            ),
        ),
    ),
    (
        ("top = y[0].item()", "left = y[1].item()", "z = x[:, top : top + 8, left : left + 8]"),
        (
            "top = y[0].long()",
            "left = y[1].long()",
            (
                "z = x.index_select(1, top + torch.arange(8, device=x.device))"
                ".index_select(2, left + torch.arange(8, device=x.device))"
            ),
        ),
    ),
]


@pytest.mark.parametrize(
    ("before", "after"), SLICES, ids=["ellipsis", "in place", "rows and columns", "crop"]
)
def test_a_slice_that_a_tensor_bounds_selects_by_position(
    before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    at = next(line.partition(" = ")[2] for line in before if "y" in line or "randint" in line)
    assert results(function(*before), at, "GB0124")["slice-positions"] == function(*after)


@pytest.mark.parametrize(
    "statement",
    [
        "z = x[:a].mean()",
        "z = x[1, a : a + 2]",
        "x[y, a:] = 0",
        "x[:a] = y[a:]",
        "z = y[a]",
        "x[..., :a] = y[..., :a].mean()",
        "x[..., a if a else 1 :] = 0",
        "x[a:][..., :a] = 0",
        "x[:, a : a + 2].mul_(0)",
        "del x[a : a + 2]",
    ],
)
def test_a_slice_that_positions_cannot_select_is_kept(statement: str) -> None:
    found = results(function("a = y.max().item()", statement), "y.max().item()", "GB0124")
    assert "slice-positions" not in found
    assert "stay-tensor" in found


@pytest.mark.parametrize(
    ("statements", "safety", "sentence"),
    [
        (("a = torch.randint(0, 4, (1,)).item()", "x[..., a : a + 2] = 0"), "safe", ""),
        (("a = y.max().item()", "x[..., a:] = 0"), "unsafe", "on the device of the tensor"),
        (("a = torch.randint(0, 4, (1,)).item()", "z = x[..., a : a + 2]"), "unsafe", "beyond the end"),
        (("a = torch.randint(0, 4, (1,)).item()", "x[..., :a] = y[..., :a]"), "unsafe", "fit the whole"),
        (("a = torch.rand(1).item()", "b = int(a * 9)", "x[..., :b] = 0"), "unsafe", "precision"),
        (("a = torch.randint(0, 4, ()).item()", "x[..., a - 2 : a + 2] = 0"), "unsafe", "A negative bound"),
        (("a = torch.randint(-4, 4, ()).item()", "x[..., a:] = 0"), "unsafe", "A negative bound"),
        (("a = torch.randint(4, (1,)).item()", "b = max(0, a - 2)", "x[..., b:] = 0"), "safe", ""),
    ],
)
def test_a_slice_by_position_says_what_may_differ(
    statements: tuple[str, ...], safety: str, sentence: str
) -> None:
    _, found = fixes(function(*statements), statements[0].partition(" = ")[2], "GB0124")
    (fix,) = (fix for fix in found if fix.rule == "slice-positions")
    assert fix.safety == safety
    assert sentence in fix.change
    assert sentence or fix.change.endswith("select among them.")


def test_rows_columns_and_planes_have_variables_of_their_own() -> None:
    draws = [f"{name} = torch.randint(0, 4, ()).item()" for name in "abc"]
    text = function(*draws, "x[..., a:, b:, c:] = -1e9")
    (made,) = [
        text
        for rule, text in results(text, "torch.randint(0, 4, ()).item()", "GB0124").items()
        if rule == "slice-positions"
    ]
    for name, dimension in (("planes", -3), ("rows", -2), ("columns", -1)):
        assert f"{name} = torch.arange(x.size({dimension}), device=x.device)" in made
    mask = (
        "(planes >= a.to(x.device))[:, None, None] & (rows >= b.to(x.device)).unsqueeze(-1) "
        "& (columns >= c.to(x.device))"
    )
    assert f"x.copy_(torch.where({mask}, -1e9, x))" in made


def test_a_mask_may_have_up_to_three_dimensions_less() -> None:
    source, found = fixes(function("x[y] = x[y].flip(-1)"), "x[y]", "GB0036", number=1)
    written = [edited(source, fix.edits) for fix in found if fix.rule == "masked-fill"]
    masks = ("y", "y.unsqueeze(-1)", "y[..., None, None]", "y[..., None, None, None]")
    for mask in masks:
        assert any(f"x.copy_(torch.where({mask}, x.flip(-1), x))" in text for text in written)


def test_bounds_that_are_drawn_move_to_the_device_of_the_tensor() -> None:
    lines = ("a = torch.randint(0, 4, (1,)).item()", "b = a + 2", "x[..., a:b] = 0", "z = y[..., a : a + 8]")
    got = results(function(*lines), "torch.randint(0, 4, (1,)).item()", "GB0124")["slice-positions"]
    assert "x.masked_fill_((positions >= a.to(x.device)) & (positions < b.to(x.device)), 0)" in got
    assert "y.index_select(-1, a.to(y.device) + torch.arange(8, device=y.device))" in got


QUEUE = """import torch


class Queue(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.{kind}))

    def forward(self, keys):
        n, ptr = keys.shape[0], {position}
        self.queue[:, {part}] = keys.T
        self.ptr[0] = (ptr + n) % 64
"""


@pytest.mark.parametrize(
    ("kind", "position"), [("long", "self.ptr"), ("int32", "self.ptr.long()"), ("int64", "self.ptr")]
)
def test_a_position_in_a_queue_stays_a_tensor(kind: str, position: str) -> None:
    text = QUEUE.format(kind=kind, position="int(self.ptr)", part="ptr:ptr + n")
    part = "ptr + torch.arange(n, device=self.queue.device)"
    expected = QUEUE.format(kind=kind, position=position, part=part)
    assert results(text, "int(self.ptr)", "GB0124")["slice-positions"] == expected


@pytest.mark.parametrize("part", ["ptr:n", "ptr - n:ptr", "ptr:ptr + ptr", "ptr:ptr + n:2", "1:ptr"])
def test_a_slice_that_does_not_begin_at_the_position_is_kept(part: str) -> None:
    text = QUEUE.format(kind="long", position="int(self.ptr)", part=part)
    assert "slice-positions" not in results(text, "int(self.ptr)", "GB0124")
