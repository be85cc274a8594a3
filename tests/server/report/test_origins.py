"""What guarded values are to the user's code, and where they get their value."""

from __future__ import annotations

import pytest
from fullgraph_server.report.model import FrameReport, Guard
from fullgraph_server.report.origins import ValueOrigin, is_ambient, origin_of
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.source import SourceFile

pytestmark = pytest.mark.portable

FILE = "/project/model.py"
TEXT = """\
import torch
from math import pi

SCALE: int = 3
CONFIG = {"a": 2}

class Config:
    depth = 2
    def __init__(self):
        self.width = 4

class Block(torch.nn.Module):
    def __init__(self, n):
        self.scale = n
        self.register_buffer("mask", torch.ones(4))
        self.linear = torch.nn.Linear(4, 4)
        self.config = Config()
    def forward(self, x):
        return self.linear(x) * self.scale

class Model(torch.nn.Module):
    def __init__(self):
        self.blocks = torch.nn.ModuleList([Block(1), Block(2)])
        self.first, self.last = Block(3), Block(4)
    def forward(self, x, *rest, flag=None, **more):
        return self.blocks[0](x)

def outer(k):
    with torch.no_grad() as mode:
        t = torch.ones(3)
    def inner(x):
        return x + t + k
    return inner
"""
FORWARD = FrameReport("forward", "forward", FILE, 25)
INNER = FrameReport("inner", "inner", FILE, 31)
BLOCK = "L['self']._modules['blocks']._modules['0']"


def guard(source: str, span: Span | None = None, kind: str = "EQUALS_MATCH") -> Guard:
    return Guard(source, kind, "1", f"{source} == 1", "0/0", span)


def origin(source: str, frame: FrameReport = FORWARD, span: Span | None = None) -> tuple[str, str]:
    """What the value is, and ``row: text`` of the definition."""
    file = SourceFile(FILE, TEXT)
    found = origin_of(guard(source, span), frame, {FILE: file})
    assert found is not None
    if found.span is None:
        return found.kind, ""
    text = file.line(found.span.row)[found.span.column - 1 : found.span.end_column - 1]
    return found.kind, f"{found.span.row}: {text}"


@pytest.mark.parametrize(
    ("source", "kind", "place"),
    [
        ("L['x']", "parameter of `forward`", "25: x"),
        ("L['rest'][0]", "item of a parameter of `forward`", "25: rest"),
        ("L['flag']", "parameter of `forward`", "25: flag"),
        ("L['more']['z']", "item of a parameter of `forward`", "25: more"),
        ("L['y']", "local variable", ""),
        ("G['SCALE']", "global", "4: SCALE"),
        ("G['CONFIG']['a']", "item of a global", "5: CONFIG"),
        ("G['outer']", "global", "28: outer"),
        ("G['torch']", "global", "1: import torch"),
        ("G['pi']", "global", "2: from math import pi"),
        ("G['nowhere']", "global", ""),
        ("L['self']._modules['blocks']", "module", "23: self.blocks"),
        ("L['self']._modules['last']", "module", "24: self.last"),
        (f"{BLOCK}.scale", "attribute", "14: self.scale"),
        (f"{BLOCK}._buffers['mask']", "buffer", '15: self.register_buffer("mask", torch.ones(4))'),
        (f"{BLOCK}._modules['linear']._parameters['weight']", "parameter of a module", "16: self.linear"),
        (f"{BLOCK}.config.width", "attribute", "10: self.width"),
        (f"{BLOCK}.config.depth", "attribute", "8: depth"),
        ("L['x'].shape", "attribute", ""),
        ("G['__builtins_dict__']['iter']", "built-in", ""),
        ("G['__import_torch_dot_nn'].functional", "part of a library", ""),
    ],
)
def test_values_that_a_method_uses(source: str, kind: str, place: str) -> None:
    assert origin(source) == (kind, place)


@pytest.mark.parametrize(
    ("source", "kind", "place"),
    [
        ("L['x']", "parameter of `inner`", "31: x"),
        ("L['k']", "closure variable", "28: k"),
        ("L['t']", "closure variable", "30: t"),
        ("L['mode']", "closure variable", "29: mode"),
    ],
)
def test_values_that_a_closure_uses(source: str, kind: str, place: str) -> None:
    assert origin(source, INNER) == (kind, place)


def test_the_class_whose_method_uses_an_attribute_tells_where_it_is_set() -> None:
    # Nothing says of which class the items of a parameter are.
    assert origin("L['rest'][0].scale") == ("attribute", "")
    line = TEXT.splitlines()[18]
    column = line.index("self.scale") + 1
    used = Span(FILE, 19, column, 19, column + len("self.scale"))
    assert origin("L['rest'][0].scale", span=used) == ("attribute", "14: self.scale")


ODD = """\
class Base:
    def __init__(this):
        this.shared = 1

class Derived(Base):
    class Inner:
        def __init__(self):
            self.own = 0

    def __init__(this):
        super().__init__()
        this.own = 2

    def forward(this, x):
        return x
"""


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("L['this'].own", "12: this.own"),
        ("L['this'].shared", "3: this.shared"),
        ("L['this'].training", ""),
    ],
)
def test_attributes_of_classes_that_are_written_otherwise(source: str, place: str) -> None:
    file = SourceFile(FILE, ODD)
    found = origin_of(guard(source), FrameReport("forward", "forward", FILE, 14), {FILE: file})
    assert found is not None
    span = found.span
    text = f"{span.row}: {file.line(span.row)[span.column - 1 : span.end_column - 1]}" if span else ""
    assert (found.kind, text) == ("attribute", place)


def test_globals_of_another_one_of_the_users_modules() -> None:
    other = "/project/tools/helpers.py"
    files = {FILE: SourceFile(FILE, TEXT), other: SourceFile(other, "import math\nSCALE = 2\n")}

    def found(source: str) -> ValueOrigin | None:
        return origin_of(guard(source), FORWARD, files)

    own = "G['__import_tools_dot_helpers']"
    assert found(f"{own}.SCALE") == ValueOrigin("global", Span(other, 2, 1, 2, 6))
    assert found(f"{own}.math.pi") == ValueOrigin("attribute", None)
    assert found(own) == ValueOrigin("module", None)
    assert found("G['__import_torch_dot_nn'].functional") == ValueOrigin("part of a library", None)


def test_ambient_state_has_no_origin() -> None:
    for kind in ("GLOBAL_STATE", "DEFAULT_DEVICE", "TORCH_FUNCTION_MODE_STACK"):
        ambient = guard("", kind=kind)
        assert is_ambient(ambient)
        assert origin_of(ambient, FORWARD, {}) is None
    assert not is_ambient(Guard("", "LAMBDA_GUARD", "", "2 <= L['a'].size()[0]", "0/0", None))


def test_a_file_that_is_gone_does_no_harm() -> None:
    found = origin_of(guard("L['self'].scale"), FORWARD, {FILE: None})
    assert found is not None
    assert (found.kind, found.span) == ("attribute", None)


def test_a_variable_of_another_closure_is_not_the_parameter_of_the_same_name() -> None:
    assert origin("L['rest'][0].__closure__[0].x") == ("closure variable", "")
