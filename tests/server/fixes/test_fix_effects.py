"""What the source of a function says that it does: on every path, not only on those that a run takes."""

from __future__ import annotations

import ast
from dataclasses import asdict

import pytest
from fixing import FILE
from fullgraph_server.fixes.effects.reading import effects_of, is_fresh
from fullgraph_server.fixes.rules.syntax import Function, ParsedFile, code_of
from fullgraph_server.workspace.source import SourceFile

HEAD = """\
import ctypes, functools, logging, os, random, re, struct, time
import numpy as np
import torch
import torch.nn.functional as F
from helpers import clean, Meter
import vendor

LIB = ctypes.CDLL("x.so")
LOG = logging.getLogger()
WORD = re.compile("a")
TABLE = {"a": 1}
COUNT = 0
METER = Meter()


class Config:
    n = 0
    items = []


def changed(x):
    x[0] = 1
    return x.clone()


def remembered(x, seen=[]):
    seen.append(1)
    return x * 2


def logged(x):
    print(x)


"""
HELPERS = """\
STATE = []


class Meter:
    def __init__(self):
        self.total = 0

    def add(self, x):
        self.total += 1
        return x * 2

    def ask(self, x):
        return x * 3


def clean(x):
    STATE.append(1)
    return x * 2
"""
EFFECTS: dict[str, dict[str, object]] = {
    # in place
    "x.add_(1)": {"changes": {"x"}},
    "x[0] = 1": {"changes": {"x"}},
    "x[0][1] += 1": {"changes": {"x"}},
    "x += 1": {"changes": {"x"}},
    "x.data = y": {"changes": {"x"}},
    "del x[0]": {"changes": {"x"}},
    "torch.add(x, 1, out=x)": {"changes": {"x"}},
    "np.copyto(x.numpy(), 1)": {"changes": {"x"}},
    "np.multiply(y, 2, out=x.numpy())": {"changes": {"x"}},
    "F.relu(x, inplace=True)": {"changes": {"x"}},
    "F.relu(x, inplace=False)": {},
    "torch.nn.init.zeros_(x)": {"changes": {"x"}},
    "z = x.view(-1)\nz.mul_(2)": {"changes": {"x"}},
    "z = x.T\nif len(z) > 9:\n    for row in z:\n        row.mul_(2)": {"changes": {"x"}},
    "parts = []\nparts.append(x)\nparts[0].add_(1)": {"changes": {"x"}},
    "(x if y.sum() > 0 else y).add_(1)": {"changes": {"x", "y"}},
    "try:\n    pass\nexcept ValueError:\n    x.zero_()": {"changes": {"x"}},
    "changed(x)": {"changes": {"x"}},
    "changed(x=y)": {"changes": {"y"}},
    "list(map(changed, [x]))": {"changes": {"x"}},
    "def inner(z):\n    z.add_(1)\ninner(x)": {"changes": {"x"}},
    "x = x * 2\nx += 1\nx[0] = 3": {},
    "z = x.clone()\nz.add_(1)": {},
    "z = torch.empty_like(x)\nz.view(-1)[0] = 1": {},
    "n = 0\nfor v in x.tolist():\n    n += v": {},
    # results
    "return x": {"returns": {"x"}},
    "if len(x) > 9:\n    return x\nreturn x * 2": {"returns": {"x"}},
    "return [y * 2, x.view(-1)]": {"returns": {"x"}},
    "return x.to(torch.float32), y + 1": {"returns": {"x"}},
    "return torch.from_numpy(x.numpy())": {"returns": {"x"}},
    "return TABLE['t']": {"returns": {"@TABLE"}, "reads": {"TABLE"}},
    "return torch.cat([x, y])": {},
    "return x.sum() + y.shape[0]": {},
    # everything else
    "global COUNT\nCOUNT += 1": {"outside": ["changes `COUNT`"], "reads": {"COUNT"}},
    "TABLE['b'] = 1": {"outside": ["changes `TABLE`"]},
    "TABLE.update(b=1)": {"outside": ["changes `TABLE`"], "reads": {"TABLE"}},
    "Config.n += 1": {"outside": ["changes `Config.n`"]},
    "Config.items.append(x)": {"outside": ["changes `Config.items`"], "reads": {"Config"}},
    "changed.calls = 1": {"outside": ["changes `changed.calls`"]},
    "torch.backends.cudnn.benchmark = True": {"outside": ["changes `torch.backends.cudnn.benchmark`"]},
    "entries = TABLE['a']\nentries += [1]": {"outside": ["changes `entries`"], "reads": {"TABLE"}},
    "remembered(x)": {"outside": ["changes the default of `seen`"]},
    "clean(x)": {"outside": ["changes `STATE`"], "reads": {"STATE"}},
    "METER.add(x)": {"outside": ["changes `METER.add`"], "reads": {"METER"}},
    "METER.ask(x)": {"reads": {"METER"}},
    "print(x)": {"outside": ["calls `print`"]},
    "logged(x)": {"outside": ["calls `print`"]},
    "list(map(print, [x]))": {"outside": ["calls `print`"]},
    "LOG.info('a')": {"outside": ["calls `LOG.info`"], "reads": {"LOG"}},
    "open('a').read()": {"outside": ["calls `open`"]},
    "z = x * time.time()": {"outside": ["calls `time.time`"]},
    "z = os.environ['A']": {"outside": ["reads `os.environ`"]},
    "torch.manual_seed(1)": {"outside": ["calls `torch.manual_seed`"]},
    "z = torch.rand(3)": {"draws": True},
    "z = random.random()": {"draws": True},
    "z = np.random.choice(3)": {"draws": True},
    "z = LIB.cbrt(1.0)": {"unknown": ["LIB.cbrt"], "reads": {"LIB"}},
    "z = vendor.fast(x)": {"unknown": ["vendor.fast"]},
    "z = y(x)": {"unknown": ["y"]},
    "z = struct.pack('f', WORD.match('a').start())": {"reads": {"WORD"}},
}


def _function(body: str) -> tuple[ParsedFile, Function, dict[str, SourceFile | None]]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    files: dict[str, SourceFile | None] = {
        FILE: SourceFile(FILE, f"{HEAD}def function(x, y):\n{lines}"),
        "helpers.py": SourceFile("helpers.py", HELPERS),
    }
    source = files[FILE]
    assert source is not None
    code = code_of(source)
    assert code is not None
    return code, next(item for item in code.functions() if item.name == "function"), files


@pytest.mark.parametrize("body", EFFECTS)
def test_effects_are_read_on_every_path(body: str) -> None:
    found = asdict(effects_of(*_function(body)))
    found["outside"], found["unknown"] = list(found["outside"]), list(found["unknown"])
    assert {name: value for name, value in found.items() if value} == EFFECTS[body]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("x * 2", True), ("torch.rand(3)", True), ("x", False), ("x.view(-1)", False), ("[x, y * 2]", False)],
)
def test_a_value_of_its_own(value: str, expected: bool) -> None:
    code, _, files = _function("pass")
    assert is_fresh(code, ast.parse(value, mode="eval").body, files) is expected
