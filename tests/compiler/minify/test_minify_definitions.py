"""What a graph needs of the user's files, cut from their text."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import holds
from failures import parse_failure
from fullgraph_compiler.cases.definitions import definitions

CASES = sorted((Path(__file__).parents[2] / "cases" / "failures").glob("*.py"))

OPERATORS = """
import torch
import numpy as np
from torch import Tensor

library = torch.library.Library("mylib", "FRAGMENT")
library.define("scale(Tensor x) -> Tensor")
library.define("other(Tensor x) -> Tensor")
FACTOR = 2  # of all of them


@torch.library.impl(library, "scale", "CPU")
def scale_cpu(x: Tensor):
    return helper(x) * FACTOR


@torch.library.impl("mylib::scale", "Meta")
def scale_meta(x):
    return torch.empty_like(x)


def helper(x):
    other = x
    return np.asarray(other)


other = 3


@torch.library.custom_op("mylib::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


def backward(ctx, grad):
    return grad * 2


twice.register_autograd(backward)


class Model(torch.nn.Module):
    def forward(self, x):
        return twice(x)
"""


def cut(text: str, *wanted: str) -> list[str]:
    """The first line of each statement that is cut from one file."""
    return heads(definitions({"/work/main.py": text}, wanted))


def heads(statements: tuple[str, ...]) -> list[str]:
    compile("\n".join(statements), "<statements>", "exec")
    return [next(line for line in text.splitlines() if line[:1] != "@") for text in statements]


def test_an_operator_comes_with_its_kernels_and_what_they_use() -> None:
    assert cut(OPERATORS, "mylib::scale") == [
        "import torch",
        "import numpy as np",
        "from torch import Tensor",
        'library = torch.library.Library("mylib", "FRAGMENT")',
        'library.define("scale(Tensor x) -> Tensor")',
        "FACTOR = 2",
        "def scale_cpu(x: Tensor):",
        "def scale_meta(x):",
        "def helper(x):",
    ]


@pytest.mark.parametrize("wanted", ["twice", "mylib::twice"])
def test_an_operator_that_is_a_function_is_completed(wanted: str) -> None:
    assert cut(OPERATORS, wanted) == [
        "import torch",
        "def twice(x: torch.Tensor) -> torch.Tensor:",
        "def _(x):",
        "def backward(ctx, grad):",
        "twice.register_autograd(backward)",
    ]


def test_nothing_is_wanted_and_nothing_changes_torch() -> None:
    assert cut(OPERATORS) == []


@pytest.mark.parametrize(
    "statement",
    [
        "torch._inductor.lowering.lowerings[aten.relu.default] = bad",
        "L.lowerings.update({aten.relu.default: bad})",
        "lowerings[aten.relu.default] = bad",
        "config.fallback_random = True",
        "torch.backends.mkldnn.enabled = False",
        "setattr(torch.nn.Linear, 'forward', bad)",
        "torch.set_default_dtype(torch.float64)",
        "torch.ops.load_library('ops.so')",
        "torch.library.register_kernel('aten::relu', 'cpu', bad)",
        "old, config.cpp.threads = config.cpp.threads, 1",
        "@L.register_lowering(aten.relu.default)\ndef lowered(x): return x",
        "@patched(aten.relu.default)\ndef lowered(x): return x",
        "install()",
        "if True:\n    lowerings[aten.relu.default] = bad",
        "for op in (aten.relu, aten.sin):\n    lowerings[op.default] = bad",
        "try:\n    torch.ops.load_library('ops.so')\nexcept OSError:\n    print('none')",
    ],
)
def test_what_changes_torch_always_comes(statement: str) -> None:
    before = """
import torch
import torch._inductor.lowering
from torch._inductor import config, lowering as L
from torch._inductor.lowering import lowerings
aten = torch.ops.aten
def bad(x): return x
def patched(op):
    def register(function):
        lowerings[op] = function
        return function
    return register
def install():
    '''Only changes torch.'''
    lowerings[aten.relu.default] = bad
"""
    assert statement in definitions({"/work/main.py": before + statement}, [])


@pytest.mark.parametrize(
    "statement",
    [
        "model = torch.nn.Linear(2, 2)\nmodel.weight.data[0] = 1\nmodel.half()",
        "torch.manual_seed(0)",
        "with torch.no_grad():\n    x = torch.ones(2)",
        "for step in range(2):\n    torch.set_num_threads(1)\n    model(step).sum().backward()",
        "@torch.set_grad_enabled(False)\ndef f(x): return x",
        "@torch._dynamo.config.patch(verbose=True)\ndef f(x): return x",
        "main()",
        "if __name__ == '__main__':\n    torch.set_num_threads(1)",
        "torch._dynamo.allow_in_graph(main)",
        "@torch.library.custom_op('mylib::op', mutates_args=())\ndef op(x): return x",
        "x = torch.compile(main)(torch.ones(2))",
    ],
)
def test_what_the_program_does_for_itself_does_not_come(statement: str) -> None:
    before = "import torch\ndef main():\n    torch.set_num_threads(1)\n    print(1)\n"
    assert cut(before + statement) == []


def test_registrations_about_a_function_come_with_it() -> None:
    text = """
import torch
import dataclasses
def f(x): return x
def g(x): return x
torch._dynamo.allow_in_graph(f)
torch._dynamo.allow_in_graph(g)
@dataclasses.dataclass
class Other: pass
@torch._dynamo.register_backend(name="named")
def other(graph, inputs): return graph
f.attribute = dataclasses
"""
    assert cut(text, "f") == [
        "import torch",
        "import dataclasses",
        "def f(x): return x",
        "torch._dynamo.allow_in_graph(f)",
        "f.attribute = dataclasses",
    ]
    assert cut(text, "named") == ["import torch", "def other(graph, inputs): return graph"]


def test_names_of_functions_are_their_own() -> None:
    text = "x = 1\ny = 2\nz = 3\ndef f(x, *y):\n    return [z for z in x]\ndef g(x): return y"
    assert cut(text, "f") == ["def f(x, *y):"]
    assert cut(text, "g") == ["y = 2", "def g(x): return y"]


def test_annotations_written_as_texts_count() -> None:
    text = "from torch import Tensor\nimport torch\nfrom typing import Any\ndef f(x: 'Tensor') -> 'Any': ..."
    assert cut(text, "f") == [
        "from torch import Tensor",
        "from typing import Any",
        "def f(x: 'Tensor') -> 'Any': ...",
    ]


def test_imports_are_first_each_once_and_only_what_is_needed() -> None:
    text = """
a = 1
import os, sys
from math import sin, cos as c, tan
import torch._dynamo, torch._inductor.config
import torch
from math import sin
def f(): return os, sin, c, torch._inductor.config.debug, a
from __future__ import annotations
"""
    text = text.replace("from __future__ import annotations\n", "")
    assert definitions({"/work/main.py": "from __future__ import annotations\n" + text}, ["f"]) == (
        "from __future__ import annotations",
        "import os",
        "from math import sin, cos as c",
        "import torch._inductor.config",
        "import torch",
        "a = 1",
        "def f(): return os, sin, c, torch._inductor.config.debug, a",
    )


def test_an_import_of_another_file_becomes_its_statements() -> None:
    files = {
        "/work/pkg/__init__.py": "from .ops import *\n",
        "/work/pkg/ops.py": OPERATORS,
        "/work/tools.py": "import math\nSIZE = math.pi\ndef area(): return SIZE\ndef far(): ...",
        "/work/main.py": """
import tools
import tools as t
from pkg.ops import helper as h
from pkg import twice
from tools import area
def backend(graph, inputs):
    return h(tools.SIZE), area, t.far(), twice
""",
    }
    statements = definitions(files, ["backend"])
    assert heads(statements) == [
        "import torch",
        "import numpy as np",
        "import math",
        "def helper(x):",
        "def twice(x: torch.Tensor) -> torch.Tensor:",
        "def _(x):",
        "def backward(ctx, grad):",
        "twice.register_autograd(backward)",
        "SIZE = math.pi",
        "def area(): return SIZE",
        "def far(): ...",
        "class tools:",
        "class t:",
        "h = helper",
        "def backend(graph, inputs):",
    ]
    assert "class tools:\n    SIZE = SIZE" in statements


def test_a_file_of_a_package_is_not_a_module_of_the_standard_library() -> None:
    files = {
        "/work/pkg/__init__.py": "",
        "/work/pkg/types.py": "def f(): ...",
        "/work/main.py": "import types\nimport pkg.types\ndef g(): return types.SimpleNamespace()",
    }
    assert heads(definitions(files, ["g"])) == ["import types", "def g(): return types.SimpleNamespace()"]


def test_an_operator_of_an_installed_package_is_imported() -> None:
    text = "import torch\nimport os\nimport torchvision\nimport others\n"
    assert cut(text, "torchvision::nms") == ["import torchvision"]
    assert cut(text, "hidden::op") == ["import torchvision", "import others"]
    assert cut(text, "aten::relu") == []


def test_a_file_that_does_not_parse_is_left_out() -> None:
    files = {"/work/broken.py": "def f(:", "/work/main.py": "from broken import f\ndef g(): return f"}
    assert definitions(files, ["g"]) == ("from broken import f", "def g(): return f")


def test_the_text_is_as_it_was_written() -> None:
    text = "a = 'é'; b = '''\n  ä'''  # why\nif a: c = b\n\n"
    text += "# over\n@a\n# between\n@b\ndef f():\n    # in\n    return 1\n"
    assert definitions({"/work/main.py": text}, ["f", "c"]) == (
        "a = 'é'",
        "b = '''\n  ä'''",
        "if a: c = b",
        "@a\n# between\n@b\ndef f():\n    # in\n    return 1",
    )


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_failing_program_can_be_cut(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for torch_version in ("2.13.0", "2.15.0"):
        parse_failure(path, torch_version)
    statements = definitions({str(path): text}, ["faulty", "my_backend", "failures::twice"])
    compile("\n".join(statements), str(path), "exec")
    assert not any("__main__" in statement or "@torch.compile" in statement for statement in statements)


def test_a_version_holds() -> None:
    assert holds("<", "2.15", "2.13.0+cpu")
    assert not holds("<", "2.15", "2.15.0")


@pytest.mark.parametrize(
    "text",
    [
        "# stage: inductor\n",
        "# stage: inductor\n# failure: error E forward\n# nodes: 1\n",
        "# stage: inductor\n# stage: eager\n# failure: error E forward\n# nodes: 1\nx  # fault\n",
        "# stage: inductor\n# failure: mistake E forward\n# nodes: 1\nx  # fault\n",
    ],
)
def test_expectations_that_make_no_sense_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "case.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"case\.py"):
        parse_failure(path, "2.13")
