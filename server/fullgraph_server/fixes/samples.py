"""Small programs with one graph break or recompilation each, to show fixes on.

``«…»`` encloses the code at which the finding is reported. The programs are parsed, not run, and contain only
what the finding needs.
"""

from __future__ import annotations

from typing import Final

from ..text.remedies import Remedy

_IN_FUNCTION: Final = (
    "import torch\n\n\n@torch.compile\ndef f({}):\n    y = x * 2\n    {}\n    return y\n\n\nf({})\n"
)


def _function(line: str, parameters: str = "x", call: str = "x", head: str = "") -> str:
    """Return a program with a compiled function in which ``line`` has the finding."""
    return head + _IN_FUNCTION.format(parameters, line, call)


def _context(manager: str, head: str = "") -> str:
    return _function(f"with «{manager}»:\n        y = y + 1", head=head)


_PRINT = _function('«print("mean", y.mean())»')
_DATA = _function("«x.data» = y")
_OUT = _function("«torch.add(x, y, out=out)»", "x, out", "x, out")
_NUMPY = "import numpy as np\n"
_ARRAY = "import array\n"
_MARKED = """\
import torch


@{}
def scale(x):
    return x / x.abs().max()


@torch.compile
def f(x):
    return «scale(x)» + 1
"""
_AUTOGRAD = """\
import torch


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def {}(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.cos()
{}

@torch.compile
def f(x):
    return «Sine.apply(x)»
"""
_JVP = """
    @staticmethod
    def jvp(ctx, tangent):
        return tangent
"""
_RNN = """\
import torch

lstm = torch.nn.LSTM(8, 8)


@torch.compile
def f(x):
    out, _ = «lstm(x)»
    return out + 1
"""
_REGISTERED = """\
import torch


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 4

    def forward(self, x):
        self.weight = «torch.nn.Parameter(torch.ones(self.size))»
        return x * self.weight
"""
_NO_INIT = """\
import torch


class Scaled(torch.nn.Module):
    def __init__(self):
        self.factor = 2

    def forward(self, x):
        return x * «self.factor»
"""
_OPERATOR = """\
import torch


@torch.library.custom_op("own::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.compile
def f(x):
    return «double(x)» + 1
"""
_TYPED = """\
from typing import TypedDict

import torch


class Options(TypedDict, total=False):
    scale: float


@torch.compile
def f(x):
    options = «Options(scale=2.0)»
    return x * options["scale"]
"""
_SCRIPTED = """\
import torch

layer = torch.jit.script(torch.nn.Linear(4, 4))


@torch.compile
def f(x):
    return «layer(x)» + 1


f(x)
"""
_OPTIONAL_IMPORT = """\
import torch


@torch.compile
def f(x):
    «from torch.nn.functional import softplus»
    return softplus(x)
"""


def _turned(name: str, value: str, line: str, head: str = "") -> str:
    """Return a program whose Dynamo option ``name`` makes ``line`` break the graph."""
    text = _function(line, head=head)
    return text.replace("import torch\n\n\n", f"import torch\n\ntorch._dynamo.config.{name} = {value}\n\n\n")


_HOISTED = _function("y = y + «zlib.crc32(name)» % 7", "x, name", 'x, b"a"', "import zlib\n")
BREAKS: Final[dict[str, str | tuple[str, ...]]] = {
    **dict.fromkeys(("GB0059", "GB0296"), _PRINT),
    "GB0291": _function('«LOG.info("%s rows", len(x))»', head="import logging\n").replace(
        "torch\n\n", 'torch\n\nLOG = logging.getLogger("model")\n', 1
    ),
    "GB0170": (
        _function("if «y.sum() > 0»:\n        y = -y"),
        _function('if «y.isnan().any()»:\n        raise ValueError("not a number")'),
        _function("if flag and «y.isinf().any()»:\n        y = y.clamp(-9, 9)", "x, flag", "x, True"),
        _function("while «y.sum() > 1»:\n        y = y / 2"),
    ),
    "GB0033": _function("if «torch.equal(x, other)»:\n        y = -y", "x, other", "x, other"),
    "GB0034": _function('assert «y.sum() > 0», "no positive sum"'),
    "GB0124": (
        _function("peak = «y.abs().max().item()»\n    y = y / peak"),
        _function("length = «y.argmax().item()»\n    y = y[:length]"),
    ),
    "GB0109": _function("for value in «x.tolist()»:\n        y = y + value"),
    "GB0036": (
        _function("y = «y[x > 0]».sum()"),
        _function("y = «y[x > 0]».mean()"),
        _function("y[x > 0] = «x[x > 0]»"),
        _function("y[«torch.where(x > 0)»] = 1.0"),
        _function("y = y / len(«x.nonzero()»)"),
        _function("y = «y.repeat_interleave(lengths)»", "x, lengths", "x, lengths"),
        _function("y = «torch.bincount(x, minlength=8)»"),
    ),
    "GB0246": _function("y = «torch.nn.functional.one_hot(x)»"),
    **dict.fromkeys(("GB0025", "GB0030"), _function("«torch._dynamo.graph_break()»")),
    "GB4297": _function("«torch._dynamo.skip_frame()»"),
    "GB0275": _function("«torch._dynamo.step_unsupported()»"),
    "GB0069": _OPTIONAL_IMPORT,
    "GB0007": _HOISTED,
    **dict.fromkeys(("GB0098", "GB0099"), _MARKED.format("torch.compiler.disable")),
    "GB0208": _MARKED.format("torch.compiler.allow_in_graph"),
    "GB2520": _MARKED.format("torch._dynamo.assume_constant_result"),
    **dict.fromkeys(("GB0236", "GB0251", "GB0078"), _MARKED.format("torch._dynamo.nonstrict_trace")),
    **dict.fromkeys(
        ("GB0142", "GB0066", "GB0221"),
        _context("LOCK", "import threading\n").replace("torch\n\n", "torch\n\nLOCK = threading.Lock()\n", 1),
    ),
    "GB0262": _context("contextlib.redirect_stdout(None)", "import contextlib\n"),
    "GB0263": _turned(
        "enable_trace_contextlib",
        "False",
        "with «contextlib.nullcontext()»:\n        y = y + 1",
        "import contextlib\n",
    ),
    **dict.fromkeys(("GB0179", "GB4198"), _function("y = «copy.deepcopy(y)»", head="import copy\n")),
    **dict.fromkeys(("GB0240", "GB0241", "GB0242", "GB0247"), _OUT),
    **dict.fromkeys(("GB0056", "GB0220"), _DATA),
    **dict.fromkeys(("GB0126", "GB0127"), _function("y = «y.resize_(2, 2)»")),
    "GB0107": _function("y = «torch.empty_like(x).random_(0, 5)»"),
    "GB0110": _function('y = «torch.empty(2).uniform_(**{"from": 1.0, "to": 2.0})»'),
    "GB0225": _function("y = y + «torch.zeros(4, requires_grad=True)»"),
    "GB0125": _function("«x.requires_grad_()»"),
    "GB0206": _function("«x.requires_grad» = True"),
    "GB0013": _function("«handle.remove()»", "x, handle", "x, handle"),
    "GB0467": _function("«layer.register_forward_hook(print)»", "x, layer", "x, layer"),
    "GB7650": _function("«generator.manual_seed(3)»", "x, generator", "x, generator"),
    "GB6815": _function("«scale.set(3)»", "x, scale", "x, scale"),
    "GB4271": _function("«mode.__class__» = dict", "x, mode", "x, mode"),
    "GB7786": _function("«data[0]» = 3", "x, data", "x, data"),
    "GB0008": _function("«optimizer.zero_grad()»", "x, optimizer", "x, optimizer"),
    "GB0264": _REGISTERED,
    "GB0226": _function("y = y + «torch.nn.Parameter()».numel()"),
    "GB0119": _NO_INIT,
    **dict.fromkeys(("GB0290", "GB0294"), _function("y = «np.add.accumulate(y.numpy())»", head=_NUMPY)),
    "GB0298": _turned(
        "use_numpy_random_stream", "True", "y = y + torch.from_numpy(«np.random.uniform(size=2)»)", _NUMPY
    ),
    "GB0105": _turned("trace_numpy", "False", "y = «y.numpy()»"),
    "GB0231": _turned("trace_numpy", "False", "y = y + «torch.from_numpy(np.ones(2))»", _NUMPY),
    "GB0293": _turned("trace_numpy", "False", "y = y + torch.from_numpy(«np.ones(2)»)", _NUMPY),
    "GB0269": _turned("debug_force_graph_break_on_leaf_return", "True", "y = «y + 1»"),
    **dict.fromkeys(("GB0014", "GB0148"), _RNN),
    "GB0123": _turned("trace_autograd_ops", "False", "«y.sum().backward()»"),
    "GB9186": _turned("trace_autograd_ops", "False", "(y,) = «torch.autograd.grad(y.sum(), x)»"),
    "GB0134": _function(
        "for _, group in «itertools.groupby([x, y], len)»:\n        y = sum(group)", head="import itertools\n"
    ),
    "GB0297": _function("y = y + «random.Random(x=7)».random()", head="import random\n"),
    "GB0104": _function("if «y.grad_fn» is not None:\n        y = y + 1"),
    "GB6297": _function("y = «Product.apply(y, y)»"),
    "GB9158": _function('«torch._check(x.shape[0] > 1, lambda: f"rows: {y}")»'),
    "GB0257": _TYPED,
    "GB0040": _function("y = torch.cond(x.sum() > 0, lambda t: «t», lambda t: t + 1, (y,))"),
    "GB0311": _function("y = «torch.cond(x.sum() > 0, lambda t: t + 1, lambda t: t - 1, {y})»"),
    "GB0314": _function("y = «torch.cond(x.sum() > 0, lambda t: 1.5, lambda t: 2.5, (y,))»"),
    "GB0144": _AUTOGRAD.format("backward", _JVP),
    "GB0145": _AUTOGRAD.format("vjp", ""),
    "GB4315": _OPERATOR,
    "GB4695": _SCRIPTED,
    "GB0222": _function("y = y + len(«parameters»)", "x, parameters", "x, set(weights)"),
    "GB0203": _function("y = y + «len(keys)»", "x, keys", "x, table.keys()"),
    "GB0811": _function("first, second = «sizes»", "x, sizes", 'x, array.array("i", [1, 2])', _ARRAY),
    "GB4411": _function("y = y + («2 in sizes»)", "x, sizes", 'x, array.array("i", [1, 2])', _ARRAY),
    "GB4880": _function("y = y + «sizes[1]»", "x, sizes", 'x, array.array("i", [1, 2])', _ARRAY),
    "GB9458": _function("y = y + («sizes * 3»)[0]", "x, sizes", 'x, array.array("i", [1, 2])', _ARRAY),
    "GB9561": _function("y = y + («sizes * 3»)[0]", "x, sizes", 'x, array.array("i", [1, 2])', _ARRAY),
    "GB9493": _function("y = y + «sizes[1]»", "x, sizes", 'x, array.array("i", [1, 2])', _ARRAY),
}
"""Sample programs by the id of their graph break."""
_OPAQUE: Final = """\
import torch
from scipy import ndimage


def smooth(x):
    return torch.from_numpy(ndimage.gaussian_filter(x.numpy(), 1.0))


@torch.compile
def f(x):
    return «smooth(x)» + 1
"""
OTHER_BREAKS: Final = (
    ("The value that breaks the graph is computed from arguments that are not tensors", _HOISTED),
    ("Torch cannot trace a function that uses another library", _OPAQUE),
)
"""Sample programs for graph breaks without rules of their own, each preceded by its cause."""

_AGAIN: Final = "import torch\n\n\n@torch.compile\ndef f(x, n=1):\n    return «{}» * 2\n\n\n{}\n"
_LOOP: Final = "for batch in batches:\n    f(batch{})"
_SUM: Final = """\
import torch


@torch.compile
def f(x):
    return sum(«x»[i] for i in range(x.shape[0]))


f(images)
"""
_LIST: Final = """\
import torch


@torch.compile
def f(tensors):
    return sum(«tensors»)


f(tensors)
"""
RECOMPILES: Final[tuple[tuple[str, str, Remedy], ...]] = (
    ("The size of a tensor changes", _AGAIN.format("x", _LOOP.format("")),
     Remedy("mark", ("torch._dynamo.mark_dynamic(x, 0)",))),
    ("A number changes", _AGAIN.format("n", "for step in range(9):\n    f(data, step)"), Remedy("dynamic")),
    ("A size is sometimes 0 or 1", _AGAIN.format("x", _LOOP.format("")),
     Remedy("mark-unbacked", ("torch._dynamo.decorators.mark_unbacked(x, 0)",))),
    ("The dtype of a tensor changes", _AGAIN.format("x", "f(images)\nf(masks)"),
     Remedy("convert", ("x.to(torch.float32)",))),
    ("The memory layout of a tensor changes", _AGAIN.format("x", "f(images)\nf(images.mT)"),
     Remedy("one-layout", ("x.contiguous()",))),
    ("Each call gets a new function", _AGAIN.format("n", _LOOP.format(", lambda y: y + 1")),
    Remedy("make-once")), ("The learning rate of an optimizer changes",
     _AGAIN.format("x", "optimizer = torch.optim.SGD(weights, lr=0.1)\nf(batch)\n"
                   'optimizer.param_groups[0]["lr"] = 0.01\nf(batch)'),
     Remedy("tensor-learning-rate")),
    ("An optional tensor is sometimes None",
     _AGAIN.format("n", "weight = torch.rand(4)\nf(batch, n=weight)\nf(batch, n=None)"),
     Remedy("neutral-tensor")),
    ("The length of a list of tensors changes",
     _LIST,
     Remedy("stack")),
    ("A size is the length of a loop",
     _SUM,
     Remedy("whole-tensor")),
    ("A number is sometimes a tensor", _AGAIN.format("n", "f(batch, 3)\nf(batch, scale)"),
     Remedy("number-as-tensor", ("torch.tensor(n, dtype=torch.int64)",))),
    ("Global state of torch is set after the first call",
     _AGAIN.format("x", "f(batch)\ntorch.set_num_threads(1)\nf(batch)"),
     Remedy("set-earlier", ("torch.set_num_threads(...)",))),
    ("The last batch is smaller",
     _AGAIN.format("x", "for batch in torch.utils.data.DataLoader(data, 8):\n    f(batch)"),
     Remedy("drop-last")),
)  # fmt: skip
"""Causes of recompilations, each with a sample program and the remedy that the advice names."""
