"""The corpus of the trials: statements with right and wrong replacements."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Replacement:
    """Statements ``old`` in a function, and their right and wrong replacements.

    The function has ``arguments``, and is called with ``call``. ``before`` and ``after`` are around the
    statements in the function, ``setup`` is before the function.
    """

    name: str
    arguments: str
    call: str
    old: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    after: str = "return y"
    before: str = ""
    setup: str = ""


MODULE = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0
        self.calls = 0
        self.flag = False
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(4))
model = Model()
"""

CORPUS = (
    Replacement(
        "branch on a sum",
        "x, b",
        "torch.ones(4), torch.ones(4)",
        "if b.sum() < 0:\n    b = b * -1",
        ("b = torch.where(b.sum() < 0, b * -1, b)", "b = torch.where(b.sum() < 0, -b, b)"),
        (
            "b = torch.where(b.sum() < 0, b, b * -1)",
            "b = torch.where(b.sum() > 0, b * -1, b)",
            "b = torch.where(b.sum() <= 0, b * -1, b)",
            "b = torch.where(b.sum() < 0, b * 1, b)",
            "b = torch.where(b < 0, b * -1, b)",
            "b = b.abs()",
            "pass",
            "b = b * -1",
            "b = torch.where(b.sum() < 0, (b * -1).detach(), b)",
            "b = torch.where(b.sum() < 0, b * -1, b).double()",
            "b = torch.where(b.mean() < 0.001, b * -1, b)",
            "if b.sum() < 0:\n    b.mul_(-1)",
            "b = torch.where(b.sum() < 0, b * -1, b) + torch.rand(1) * 0",
        ),
        after="return x * b",
    ),
    Replacement(
        "two arms",
        "x",
        "torch.rand(3, 4) + 1",
        "if x.mean() > 0.5:\n    y = x * 2\nelse:\n    y = x - 1",
        (
            "y = torch.where(x.mean() > 0.5, x * 2, x - 1)",
            "y = torch.cond(x.mean() > 0.5, lambda x: x * 2, lambda x: x - 1, (x,))",
            "if not x.mean() > 0.5:\n    y = x - 1\nelse:\n    y = x * 2",
        ),
        (
            "y = torch.where(x.mean() > 0.5, x - 1, x * 2)",
            "y = torch.where(x.mean() >= 0.5, x * 2, x - 1)",
            "y = torch.where(x.mean() > 0.5, x * 2, x + 1)",
            "y = torch.where(x.mean() > 0.5, x * 2, x)",
            "y = torch.where(x.mean(-1, keepdim=True) > 0.5, x * 2, x - 1)",
            "y = torch.cond(x.mean() > 0.5, lambda x: x * 2, lambda x: x.clone(), (x,))",
            "y = x * 2",
        ),
    ),
    Replacement(
        "an arm that has no finite gradient",
        "x",
        "torch.rand(4) + 1",
        "if x.min() > 0:\n    y = x.sqrt()\nelse:\n    y = x * 2",
        ("y = torch.where(x.min() > 0, torch.where(x > 0, x, 1.0).sqrt(), x * 2)",),
        ("y = torch.where(x.min() > 0, x.sqrt(), x * 2)",),
    ),
    Replacement(
        "clamp after overflow",
        "x",
        "torch.randn(4).half()",
        "if torch.isinf(x).any():\n    x = torch.clamp(x, min=-1000.0, max=1000.0)",
        ("x = torch.where(torch.isinf(x).any(), torch.clamp(x, min=-1000.0, max=1000.0), x)",),
        (
            "x = torch.clamp(x, min=-1000.0, max=1000.0)",
            "x = torch.where(torch.isinf(x), torch.clamp(x, min=-1000.0, max=1000.0), x)",
            "x = torch.where(torch.isnan(x).any(), torch.clamp(x, min=-1000.0, max=1000.0), x)",
            "x = torch.where(torch.isinf(x).any(), torch.clamp(x, min=-1000.0, max=1001.0), x)",
            "x = torch.nan_to_num(x)",
        ),
        after="return x + 1",
    ),
    Replacement(
        "a number that goes back",
        "x",
        "torch.randn(4)",
        "s = x.abs().max().item()\ny = x / (s + 1)",
        ("s = x.abs().max().detach()\ny = x / (s + 1)",),
        (
            "s = x.abs().max()\ny = x / (s + 1)",
            "s = x.max().detach()\ny = x / (s + 1)",
            "s = x.abs().max(-1, keepdim=True).values\ny = x / (s + 1)",
            "s = x.abs().max().detach()\ny = x / s",
        ),
    ),
    Replacement(
        "the number is read later",
        "x",
        "torch.randn(4)",
        "s = x.sum().item()",
        ("s = float(x.sum())", "t = x.sum()\ns = t.item()"),
        (
            "s = x.sum()",
            "s = x.sum().detach()",
            "s = int(x.sum().item())",
            "s = x.double().sum().item() + 1e-2",
        ),
        after="return x * s",
    ),
    Replacement(
        "what follows hides it",
        "x",
        "torch.rand(4)",
        "s = x.abs().sum()",
        ("s = x.abs().sum() * 1",),
        ("s = x.abs().sum() + 1", "s = x.sum()"),
        after="return x + s * 1e-12",
    ),
    Replacement(
        "another type, and what follows hides more",
        "x",
        "torch.rand(4)",
        "s = x.abs().sum().item()",
        ("s = float(x.abs().sum())",),
        ("s = x.abs().sum().detach() + 1", "s = int(x.abs().sum())"),
        after="return x + s * 1e-12",
    ),
    Replacement(
        "mutation of an input",
        "x",
        "torch.randn(3, 4)",
        "x.add_(1)\ny = x * 2",
        ("x += 1\ny = x * 2", "x.copy_(x + 1)\ny = x * 2"),
        (
            "x = x + 1\ny = x * 2",
            "y = (x + 1) * 2",
            "x.add_(1)\ny = x.mul_(2)",
            "x.add_(1)\ny = x",
            "x.add_(2)\ny = (x - 1) * 2",
        ),
    ),
    Replacement(
        "a clone",
        "x",
        "torch.randn(4)",
        "y = x.clone()",
        ("y = x.clone().contiguous()", "y = x + 0"),
        ("y = x", "y = x.view(-1)", "y = x.detach()", "y = x.clone().detach()", "y = x[:]"),
        after="y.add_(1)\nreturn y",
    ),
    Replacement(
        "the input itself, changed later",
        "x",
        "torch.randn(4)",
        "y = x if x.sum() > 0 else -x",
        (),
        ("y = torch.where(x.sum() > 0, x, -x)",),
        after="y.add_(1)\nreturn y",
    ),
    Replacement(
        "an append",
        "x, seen",
        "torch.randn(4), []",
        "y = x + 1\nseen.append(y)",
        ("y = x + 1\nseen += [y]", "seen.append(x + 1)\ny = seen[-1]"),
        (
            "y = x + 1",
            "y = x + 1\nseen.append(x)",
            "y = x + 1\nseen.append(y.clone())",
            "y = x + 1\nseen = [*seen, y]",
        ),
    ),
    Replacement(
        "a dictionary",
        "x, cache",
        "torch.randn(4), {}",
        "cache['x'] = x\nif 'y' not in cache:\n    cache['y'] = x * 2\ny = cache['y']",
        (),
        ("cache['x'] = x\ny = x * 2", "cache['x'] = x.clone()\ny = cache.setdefault('y', x * 2)"),
    ),
    Replacement(
        "attributes and buffers",
        "self, x",
        "model, torch.randn(4)",
        "self.calls += 1\nself.seen.add_(x.detach())\ny = self.linear(x) * self.scale",
        (
            "self.seen += x.detach()\ny = self.linear(x) * self.scale\nself.calls = self.calls + 1",
            "self.calls += 1\nself.seen.copy_(self.seen + x.detach())\ny = self.scale * self.linear(x)",
        ),
        (
            "self.seen.add_(x.detach())\ny = self.linear(x) * self.scale",
            "self.calls += 1\ny = self.linear(x) * self.scale",
            "self.calls += 1\nself.seen = self.seen + x.detach() * 2\ny = self.linear(x) * self.scale",
            "self.calls += 1\nself.seen.add_(x.detach())\ny = self.linear(x) * 2.0",
            "self.calls += 1\nself.seen.add_(x.detach())\ny = self.linear(x.detach()) * self.scale",
            "self.calls += 1\nself.seen.add_(x.detach())\ny = self.linear(x).detach() * self.scale",
        ),
        setup=MODULE,
    ),
    Replacement(
        "a flag of the module",
        "self, x",
        "model, torch.randn(4)",
        "if self.training and self.flag:\n    y = x * 3\nelse:\n    y = x + 1",
        ("y = x * 3 if self.training and self.flag else x + 1",),
        (
            "y = x + 1",
            "y = x * 3 if self.flag else x + 1",
            "y = x * 3 if self.training or self.flag else x + 1",
        ),
        setup=MODULE,
    ),
    Replacement(
        "a raise",
        "x",
        "torch.rand(4)",
        "if x.min() < 0:\n    raise ValueError('negative')\ny = x.sqrt()",
        ("if (x < 0).any():\n    raise ValueError('negative')\ny = x.sqrt()",),
        (
            "y = x.sqrt()",
            "if x.min() < 0:\n    raise TypeError('negative')\ny = x.sqrt()",
            "if x.min() <= 0:\n    raise ValueError('negative')\ny = x.sqrt()",
            "torch._assert(x.min() >= 0, 'negative')\ny = x.sqrt()",
            "if x.max() < 0:\n    raise ValueError('negative')\ny = x.sqrt()",
        ),
    ),
    Replacement(
        "an assertion",
        "x",
        "torch.rand(4)",
        "assert x.sum() > 0\ny = x + 1",
        ("if not x.sum() > 0:\n    raise AssertionError\ny = x + 1",),
        ("y = x + 1", "assert x.sum() >= 0\ny = x + 1", "assert (x > 0).all()\ny = x + 1"),
    ),
    Replacement(
        "random numbers",
        "x",
        "torch.randn(4)",
        "y = torch.nn.functional.dropout(x, 0.5, True)",
        ("y = torch.dropout(x, 0.5, True)",),
        (
            "y = x",
            "y = x * (torch.rand_like(x) > 0.5) * 2",
            "y = torch.nn.functional.dropout(x, 0.25, True)",
            "y = torch.nn.functional.dropout(x, 0.5, True)\ntorch.rand(1)",
        ),
    ),
    Replacement(
        "Python's random numbers",
        "x",
        "torch.randn(4)",
        "if random.random() < 0.5:\n    x = x * 2",
        ("x = x * 2 if random.random() < 0.5 else x",),
        (
            "x = torch.where(torch.rand(()) < 0.5, x * 2, x)",
            "pass",
            "x = x * 2 if random.random() > 0.5 else x",
        ),
        after="return x + 1",
        setup="import random",
    ),
    Replacement(
        "sizes and dimensions",
        "x",
        "torch.randn(3, 4)",
        "y = x.sum(-1, keepdim=True)",
        ("y = x.sum(dim=1, keepdim=True)", "y = x.sum(-1).unsqueeze(-1)"),
        (
            "y = x.sum(-1)",
            "y = x.sum(0, keepdim=True)",
            "y = x.mean(-1, keepdim=True)",
            "y = x.sum(-1, keepdim=True).double()",
        ),
    ),
    Replacement(
        "a mask as index",
        "x, mask",
        "torch.randn(4), torch.tensor([True, False, True, False])",
        "y = x.clone()\ny[mask] = 0.0",
        ("y = torch.where(mask, 0.0, x)", "y = x.masked_fill(mask, 0.0)"),
        (
            "y = x * ~mask",
            "y = torch.where(mask, x, 0.0)",
            "y = x.masked_fill_(mask, 0.0)",
            "y = x.masked_fill(mask, 0.0).detach()",
        ),
    ),
    Replacement(
        "a sum of what a mask selects",
        "x, mask",
        "torch.randn(4), torch.tensor([True, False, True, False])",
        "y = x[mask].sum()",
        ("y = torch.where(mask, x, 0.0).sum()",),
        ("y = (x * mask).sum()", "y = x.sum()", "y = torch.where(mask, x, 0.0).mean()"),
    ),
    Replacement(
        "a mean of what a mask selects",
        "x, mask",
        "torch.randn(4), torch.tensor([True, False, True, False])",
        "y = x[mask].mean()",
        ("y = torch.where(mask, x, 0).sum() / mask.sum()",),
        (
            "y = torch.where(mask, x, 0).mean()",
            "y = torch.where(mask, x, 0).sum() / mask.numel()",
            "y = (x * mask).sum() / mask.sum()",
            "y = torch.where(mask, x, 0).sum() / mask.sum().clamp(min=1)",
        ),
    ),
    Replacement(
        "what a mask selects, asked",
        "x, mask",
        "torch.randn(4) > 0, torch.tensor([True, False, True, False])",
        "y = x[mask].any()",
        ("y = torch.where(mask, x, 0).any()",),
        ("y = torch.where(mask, x, 1).any()", "y = (x | mask).any()", "y = torch.where(mask, x, 0).all()"),
    ),
    Replacement(
        "a number of elements",
        "x",
        "torch.tensor([1.0, 0.0, 2.0])",
        "y = x * len(x.nonzero())",
        ("y = x * x.count_nonzero()",),
        ("y = x * x.numel()", "y = x * (x > 0).sum()", "y = x * (x.count_nonzero() + 1)"),
    ),
    Replacement(
        "repeated elements",
        "x, repeats",
        "torch.randn(3), torch.tensor([1, 0, 2])",
        "y = torch.repeat_interleave(x, repeats)",
        ("y = torch.repeat_interleave(x, repeats, output_size=int(repeats.sum()))",),
        (
            "y = torch.repeat_interleave(x, repeats + 1)",
            "y = x.repeat(int(repeats.sum()))",
            "y = torch.repeat_interleave(x, repeats.clamp(max=1))",
        ),
    ),
    Replacement(
        "a mask that may be none",
        "x, mask",
        "torch.randn(4), torch.ones(4, dtype=torch.bool)",
        "if mask is not None and not mask.all():\n    x = x.masked_fill(~mask, -1.0)",
        ("if mask is not None:\n    x = x.masked_fill(~mask, -1.0)",),
        (
            "x = x.masked_fill(~mask, -1.0)",
            "if mask is not None:\n    x = x.masked_fill(mask, -1.0)",
            "pass",
            "if mask is not None and mask.any():\n    x = x.masked_fill(~mask, -1.0)",
        ),
        after="return x + 1",
    ),
    Replacement(
        "a loop over elements",
        "x",
        "torch.randn(4)",
        "y = 0.0\nfor value in x.tolist():\n    if value > 0:\n        y += 1.0",
        ("y = float((x > 0).sum())",),
        ("y = float((x >= 0).sum())", "y = int((x > 0).sum())", "y = (x > 0).sum()", "y = float(len(x))"),
    ),
    Replacement(
        "a loop that is left",
        "xs",
        "[torch.ones(2), torch.ones(2)]",
        "if x.sum() < 0:\n    continue\ny = y + x",
        ("if not x.sum() >= 0 and not x.isnan().any():\n    continue\ny = y + x",),
        ("y = y + x", "if x.sum() < 0:\n    break\ny = y + x", "if x.sum() <= 0:\n    continue\ny = y + x"),
        before="y = torch.zeros(2)\nfor x in xs:",
    ),
    Replacement(
        "a returned arm",
        "x",
        "torch.ones(4)",
        "if x.any():\n    return x * 2\nreturn x + 1",
        ("return torch.where(x.any(), x * 2, x + 1)",),
        (
            "return x * 2",
            "return torch.where(x.all(), x * 2, x + 1)",
            "return torch.where(x.any(), x + 1, x * 2)",
            "return None",
        ),
        after="",
    ),
    Replacement(
        "an integer argument",
        "x, n",
        "torch.randn(4), 3",
        "if n > 2:\n    y = x * n\nelse:\n    y = x - n",
        ("y = x * n if n > 2 else x - n", "y = x - n if n <= 2 else x * n"),
        (
            "y = x * n",
            "y = x * n if n >= 2 else x - n",
            "y = x * 3 if n > 2 else x - n",
            "y = x * n if n > 2 else x + n",
        ),
    ),
    Replacement(
        "a mode by name",
        "x, mode",
        "torch.randn(4), 'sum'",
        "if mode == 'sum':\n    y = x.sum()\nelif mode == 'mean':\n    y = x.mean()\nelse:\n    y = x",
        ("y = x.sum() if mode == 'sum' else x.mean() if mode == 'mean' else x",),
        (
            "y = x.sum()",
            "y = x.sum() if mode == 'sum' else x.mean()",
            "y = x.sum() if mode != 'mean' else x.mean()",
        ),
    ),
    Replacement(
        "what only compiled code does",
        "x, seen",
        "torch.randn(4), []",
        "seen.append(1)\ny = x + 1",
        (),
        ("if not torch.compiler.is_compiling():\n    seen.append(1)\ny = x + 1",),
    ),
    Replacement(
        "a print",
        "x",
        "torch.randn(4)",
        "y = x + 1\nprint(y)",
        ("y = x + 1", "y = x + 1\nif not torch.compiler.is_compiling():\n    print(y)"),
        ("y = x - 1", "y = x + 1\nif torch.compiler.is_compiling():\n    y = y + 1"),
    ),
    Replacement(
        "a global list",
        "x",
        "torch.randn(4)",
        "note(x)\ny = x + 1",
        ("y = x + 1\nnote(x)",),
        ("y = x + 1", "note(x)\nnote(x)\ny = x + 1"),
        setup="LOG = []\ndef note(x):\n    LOG.append(tuple(x.shape))",
    ),
    Replacement(
        "a caught exception",
        "x, values",
        "torch.randn(4), {'a': 1.0}",
        "try:\n    y = x * values['a']\nexcept KeyError:\n    y = x",
        (),
        ("y = x * values['a']", "y = x * values.get('a', 2.0)"),
    ),
    Replacement(
        "a module in the other mode",
        "x, drop",
        "torch.randn(4), drop",
        "y = drop(x)",
        ("y = drop.forward(x)",),
        ("y = x + 0", "y = torch.dropout(x, 0.5, False)"),
        setup="drop = torch.nn.Dropout(0.5).eval()",
    ),
)
