"""Inlay hints over real stdio, each compared with what its name holds when the program runs uncompiled."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import attrs
import lsp_session
import pytest
import pytest_lsp
from lsp_session import CAPABILITIES, CONFIG, Editor
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="function")

TRANSFORMER = """\
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask=None):
        b, t, w = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(b, t, self.heads, -1).transpose(1, 2)
        k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in (k, v))
        scores = (
            q
            @ k.transpose(-2, -1)
        ) / (q.shape[-1] ** 0.5)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        weights: torch.Tensor = scores.softmax(-1)
        y = (weights @ v).transpose(1, 2).reshape(b, t, w)
        return self.out(y)


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if (h := self.up(x)).requires_grad:
            h = F.gelu(h)
        x = self.down(h)
        return x


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.mlp = Attention(width, heads), MLP(width)

    def forward(self, x, mask):
        attended = self.attention(self.norm1(x), mask)
        x = x + attended
        x += self.mlp(self.norm2(x))
        return x


class Model(nn.Module):
    def __init__(self, words=50, width=16, heads=4, depth=3, longest=12):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.positions = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.last = None

    def forward(self, tokens, targets):
        t = tokens.shape[1]
        steps = torch.arange(t)
        x = self.embedding(tokens) + self.positions(steps)
        mask = torch.ones(t, t, dtype=torch.bool).triu(1)
        for block in self.blocks:
            x = block(x, mask)
        self.last = x.mean(1)
        logits = self.norm(x) @ self.embedding.weight.T
        best, index = logits.max(-1)
        hits = (index == targets).to(torch.bfloat16)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss = loss + best.sum() * 0
        return loss, hits


torch.manual_seed(0)
model = Model()
compiled = torch.compile(model)
for batch in (4, 6, 7):
    tokens = torch.randint(0, 50, (batch, 12))
    compiled(tokens, tokens.roll(-1, 1))
"""

FORMS = """\
import functools
import torch

scale = 2.0
kept = None


class Holder:
    pass


def double(z, *, by=None):
    d = z * 2
    return d if by is None else d * by


def decorated(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args)
    return call


@decorated
def half(z: torch.Tensor, flag):
    out: torch.Tensor = z / 2; é = "é"; out = out + len(é); return out


def pair(x):
    return x, 3


@torch.compile
def step(x, w, holder, n, items):
    global kept
    a = b = x @ w
    (c, d), *rest = a.split(1, -1)[:2], b, x
    first, number = pair(x)
    count = x.shape[0] * n
    y = x
    same = w
    narrow = double(x)
    wide = double(w, by=w)
    holder.value = (x
                    .relu()
                    .sum(0))
    holder.value += 1
    holder.other = None
    kept = x.long()
    for part in (x, w, x.t()):
        seen = part.sum(-1)
    for thing in (x, 3, None):
        mixed = thing
    total = 0
    for item in items:
        total = total + item.sum()
    squares = [p * p for p in (x, w)]

    def inner():
        nonlocal y
        y = w + 1
        return y

    z = inner()
    if (m := x.mean()).dim() == 0:
        m = m * n
    print("a graph break")
    later = half(z, True)
    flipped = later.clone()
    flipped.unsqueeze_(0)
    again = flipped
    with torch.no_grad():
        e, f = torch.topk(later, 2)
    g = h = None
    i = x.shape
    j = x.numpy().sum() if False else x.sum().item()
    back = x.t()[None]
    back[0] = 1
    return a.sum() + b.sum() + c[0].sum() + z.sum() + m + e.sum() + again.sum() + back.sum()


for batch in (3, 5, 6):
    x = torch.ones(batch, 4)
    step(x, torch.ones(4, 4), Holder(), 2, [torch.ones(2), torch.ones(batch)])
"""

CORNERS = """\
import torch
from torch.utils.checkpoint import checkpoint


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        r = z * z
        return r

    @staticmethod
    def backward(ctx, grad):
        (z,) = ctx.saved_tensors
        g = 2 * grad * z
        return g


def rows(x):
    row = x[0]
    yield row
    row = x[:, 0]
    yield row


def captured(x, w):
    def inner(z):
        s = z + x.sum()
        return s
    c = inner(w)
    x = x.t()
    return c, x


def maybe(v):
    if isinstance(v, torch.Tensor):
        v = v + 1
    u = v
    return u


def once(v):
    o = v.sum(0)
    return o


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.weight = torch.nn.Parameter(torch.ones(4, 4))

    def forward(self, x, *others, flag=None, **named):
        w = self.weight
        t = self.total
        a = x @ w; a = a.t(); a = a[0]
        self.total = self.total + x.sum(0).detach()
        first, *others = others
        p = first + named["extra"]
        for row in rows(x):
            d = row * 2
        for r in x.t():
            r = r + 1
        c, turned = captured(x, w)
        q = checkpoint(once, x, use_reentrant=False)
        k = Square.apply(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = x @ w
        maybe(3)
        i = maybe(x)
        v = torch.vmap(once)(x)
        try:
            tried = named["missing"]
        except KeyError:
            tried = x.sum()
        y = x.clone()
        y.t_()
        z = y
        y.resize_(2, 2) if flag else None
        s = x.size(0)
        n = torch.tensor(3)
        e = torch.full((s,), 2)
        m = {"k": x.mean(0)}
        l = [o for o in m.values()]
        f = torch.cond(x.sum() > 0, lambda g: g + 1, lambda g: g - 1, (x,))
        x = x.to(torch.int64) if s > 100 else x
        return a.sum() + p.sum() + d.sum() + c.sum() + k.sum() + low.sum() + v.sum() + z.sum() + f.sum()


@torch.compile
def loop(x):
    h = x
    for step in range(3):
        h = h * 2
        if step == 1:
            print("a graph break in a loop")
        h = h.unsqueeze(0)
    return h


@torch.compile
def other(x):
    b = once(x)
    return b


model = torch.compile(Module())
for batch in (3, 5, 6):
    x = torch.ones(batch, 4)
    model(x, torch.ones(2), x, extra=torch.ones(batch, 2)).backward()
    loop(x)
    other(x.t())
"""

RECORDER = '''
import ast, json, sys, torch

SHORT = {torch.float32: "f32", torch.bfloat16: "bf16", torch.int64: "i64", torch.bool: "b8"}
notes = {}


def note(row, column, value):
    """Keep what a name holds, by its place and the size of the batch."""
    if sys._getframe(1).f_code.co_name == "<module>":
        return True  # not compiled
    is_tensor = isinstance(value, torch.Tensor)
    text = f"{SHORT[value.dtype]}{list(value.shape)}" if is_tensor else "no tensor"
    notes.setdefault(f"{row}:{column}", {}).setdefault(str(scope.get("batch")), [])
    seen = notes[f"{row}:{column}"][str(scope.get("batch"))]
    if text not in seen:
        seen.append(text)
    return True


def call(node, value, end=None):
    line = lines[(end or node).end_lineno - 1].encode()[: (end or node).end_col_offset].decode()
    place = [ast.Constant(node.lineno), ast.Constant(len(line.encode("utf-16-le")) // 2)]
    return ast.Call(ast.Name("note__", ast.Load()), [*place, value], [])


def loaded(node):
    return ast.parse(ast.unparse(node), mode="eval").body


class Recorder(ast.NodeTransformer):
    def targets(self, node, end=None):
        for part in ast.walk(node):
            if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Store):
                yield ast.Expr(call(part, loaded(part), end))

    def after(self, node):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        end = getattr(node, "annotation", None)
        notes_of = [item for target in targets for item in self.targets(target, end)]
        return [self.generic_visit(node), *notes_of]

    visit_Assign = visit_AugAssign = visit_AnnAssign = after

    def visit_NamedExpr(self, node):
        name = ast.Name(node.target.id, ast.Load())
        both = ast.Tuple([self.generic_visit(node), call(node.target, name)], ast.Load())
        return ast.Subscript(both, ast.Constant(0), ast.Load())

    def visit_For(self, node):
        found = list(self.targets(node.target))
        self.generic_visit(node)
        node.body = [*found, *node.body]
        return node

    def visit_comprehension(self, node):
        conditions = [item.value for item in self.targets(node.target)]
        self.generic_visit(node)
        node.ifs = [*conditions, *node.ifs]
        return node

    def visit_FunctionDef(self, node):
        given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        found = [ast.Expr(call(item, ast.Name(item.arg, ast.Load()))) for item in given]
        first = [item for item in node.body if isinstance(item, (ast.Global, ast.Nonlocal))]
        self.generic_visit(node)
        node.body = [*first, *found, *(item for item in node.body if item not in first)]
        return node


source = open(sys.argv[1], encoding="utf-8").read()
lines = source.splitlines()
tree = ast.fix_missing_locations(Recorder().visit(ast.parse(source)))
scope = {"__name__": "__main__", "note__": note}
exec(compile(tree, sys.argv[1], "exec"), scope)
print("notes:" + json.dumps(notes))
'''
"""Runs a program that notes, after each statement, what the names in it hold now: it knows no compiler."""


async def recorded(program: Path) -> dict[tuple[int, int], dict[str, list[str]]]:
    """What each name holds at run time, by its place and the size of the batch."""
    recorder = program.with_name("recorder.py")
    await asyncio.to_thread(recorder.write_text, RECORDER)
    done = await asyncio.create_subprocess_exec(
        sys.executable,
        str(recorder),
        str(program),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TORCHDYNAMO_DISABLE": "1"},
    )
    output, _ = await done.communicate()
    notes = json.loads(output.decode().rpartition("notes:")[2])
    places = {tuple(map(int, place.split(":"))): held for place, held in notes.items()}
    return {(row, column): held for (row, column), held in places.items()}


async def hints_of(editor: Editor, uri: str) -> list[types.InlayHint]:
    whole = types.Range(types.Position(0, 0), types.Position(10_000, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
    return list(await editor.text_document_inlay_hint_async(params) or [])


def is_right(label: str, batch: int, tensors: set[str]) -> bool:
    """Whether a label names all the tensors that a name holds; as many as it can, if they are too many."""
    found = evaluated(label.removesuffix(" | …"), batch)
    return found < tensors if label.endswith("…") else found == tensors


def evaluated(label: str, batch: int) -> set[str]:
    """The tensors of a label, where each symbol is the size of the batch."""
    found = set()
    for text in label.removeprefix(": ").split(" | "):
        dtype, _, sizes = text.removesuffix("]").partition("[")
        expression = re.sub(r"\bs\d+\b", str(batch), sizes)
        found.add(f"{dtype}{[*eval(f'({expression},)' if expression else '()')]}")
    return found


@pytest_lsp.fixture(config=CONFIG)
async def editor(lsp_client: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    refresh = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    workspace = attrs.evolve(CAPABILITIES.workspace, inlay_hint=refresh)
    capabilities = attrs.evolve(CAPABILITIES, workspace=workspace)
    monkeypatch.setattr(lsp_session, "CAPABILITIES", capabilities)
    lsp_client.refreshes = []
    lsp_client._keep(types.WORKSPACE_INLAY_HINT_REFRESH, lsp_client.refreshes)
    lsp_client.set_configuration({"fullgraph": {"activeInterpreter": sys.executable}})
    await lsp_client.open_folder(tmp_path)
    yield
    await lsp_client.shutdown_session()


@pytest.mark.parametrize(
    ("text", "at_least"),
    [
        pytest.param(TRANSFORMER, 0.95, marks=pytest.mark.slow),
        pytest.param(FORMS, 0.95, marks=pytest.mark.slow),
        (CORNERS, 0.7),
    ],
    ids=["model", "forms", "corners"],
)
async def test_every_hint_is_what_the_name_holds(
    editor: Editor,
    tmp_path: Path,
    text: str,
    at_least: float,
    record_property: Callable[[str, object], None],
) -> None:
    file = tmp_path / "program.py"
    await asyncio.to_thread(file.write_text, text, "utf-8")
    uri = editor.open(file)
    await editor.command("fullgraph.run", str(file))
    await editor.until(lambda: editor.refreshes)
    hints = {(hint.position.line + 1, hint.position.character): hint for hint in await hints_of(editor, uri)}
    held = await recorded(file)
    wrong = []
    for place, hint in hints.items():
        for batch, tensors in held.get(place, {"None": ["never ran"]}).items():
            if batch == "None" or not is_right(str(hint.label), int(batch), set(tensors)):
                wrong.append((place, hint.label, batch, tensors))
    body = [
        place
        for place, seen in held.items()
        if all(item != "no tensor" for items in seen.values() for item in items) and "None" not in seen
    ]
    missing = [(place, text.splitlines()[place[0] - 1].strip()) for place in body if place not in hints]
    found = len(body) - len(missing)
    record_property("ratio: places that hold tensors and have an inlay hint", (found, len(body)))
    print(textwrap.indent("\n".join(map(str, missing)), "  without: "))
    assert not wrong
    assert len(hints) >= at_least * len(body)
