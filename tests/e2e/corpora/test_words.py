"""What findings say of little programs, where torch says it in several places or in its own terms."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from forked import observe
from fullgraph_compiler.facts import Script
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.workspace import Workspace

BREAK_UNDER_CONTEXT = """
@contextlib.contextmanager
def context():
    yield

@torch.compile(backend="eager")
def f(x):
    y = x + 1{}
    with context():
        torch._dynamo.graph_break()
        y = y + 1
    return y

f(torch.ones(2))
"""
UP_TO = """
@torch.compile(backend="eager")
def f(x):
    y = x.sin()
    y = y.cos()
    try:
        print(y)
    except ValueError:
        pass
    return y

f(torch.ones(2))
"""
CHECKPOINT = """
from torch.utils.checkpoint import checkpoint

def inner(x):
    print("in it")
    return x.sin()

@torch.compile(backend="eager")
def f(x):
    return checkpoint(inner, x, use_reentrant=False)

f(torch.ones(2, requires_grad=True))
"""
COND = """
def broken(x):
    torch._dynamo.graph_break()
    return x.sin()

@torch.compile(backend="eager")
def f(x):
    return torch.cond(x.sum() > 0, broken, torch.cos, (x,))

f(torch.ones(2))
"""
BACKEND = """
from torch._subclasses.fake_tensor import DataDependentOutputException

def backend(graph, inputs):
    raise DataDependentOutputException(torch.ops.aten._local_scalar_dense.default)

@torch.compile(backend=backend, fullgraph={})
def f(x):
    return x + 1

f(torch.ones(2))
"""
NO_RECOMPILE = """
@torch.compile(backend="eager")
def f(x):
    return x + 1

f(torch.ones(2))
torch._dynamo.config.error_on_recompile = True
f(torch.ones(3))
"""
OPTIMIZER = """
class Model(torch.nn.Module):
    def forward(self, x):
        return x.sin()

weight = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
step = torch.compile(optimizer.step, backend="eager")
model = torch.compile(Model(), backend="eager", dynamic=False)
torch._dynamo.config.recompile_limit = 1
for rate in (0.1, 0.01):
    optimizer.param_groups[0]["lr"] = rate
    weight.grad = torch.ones(2)
    step()
model(torch.ones(2))
model(torch.ones(3))
"""
TWO_STATES = """
@torch.compile(backend="eager")
def f(x):
    return x + 1

f(torch.ones(2))
torch.use_deterministic_algorithms(True)
with torch.no_grad():
    f(torch.ones(2))
"""
OFF, ON = "was True, is now False", "was False, is now True"
CLOSURE = """
def scaled_by(scale, shift):
    return lambda x: x * scale + shift

@torch.compile(backend="eager")
def f(x, scaled):
    return scaled(x)

f(torch.ones(2), scaled_by(2, torch.ones(2)))
f(torch.ones(2), scaled_by({}))
"""
FLOATS = """
@torch.compile
def f(p, q, decay):
    return p.lerp(q, 1 - decay)

for decay in (0.18, 1.18, 2.18):
    f(torch.ones(2), torch.ones(2), decay)
"""
NAN = """
@torch.compile(backend="eager")
def f(x, factor):
    return x * factor

f(torch.ones(2), float("nan"))
f(torch.ones(2), 1.0)
"""
MARKED = """
@torch.compile(backend="eager")
def f(x):
    return x + 1

x = torch.ones(3)
f(x)
torch._dynamo.mark_dynamic(x, 0)
f(x)
"""
ADDRESSES = """
class Own:
    pass

def own():
    pass

raise ValueError(f"{Own()} and {own}")
"""
CONSTRAINT = """
@torch.compile(backend="eager")
def f(x):
    return x * 2 if x.shape[0] == 4 else x

x = torch.ones(4)
torch._dynamo.mark_dynamic(x, 0)
f(x)
"""
BUG = """
from torch._dynamo.variables.tensor import TensorVariable

TensorVariable.call_method = lambda: None

@torch.compile(backend="eager")
def f(x):
    return x.cumsum(0)

f(torch.ones(2))
"""


def findings(tmp_path: Path, text: str) -> list[Finding]:
    program = tmp_path / "program.py"
    program.write_text(f"import contextlib\nimport torch\n{text}")
    facts = observe(Script(str(program)), tmp_path)
    return list(fold("program.py", 1, torch.__version__, facts, Workspace(tmp_path)).findings)


def test_a_break_tells_the_break_that_it_leads_to(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, BREAK_UNDER_CONTEXT.format(""))
    assert found.code == "GB0025"
    assert found.message.endswith("; the whole of `f` runs eagerly")
    assert "GB0066, Graph break under GenericContextWrappingVariable: Attempted to" in found.explanation


def test_functions_carry_their_class_and_libraries_their_place(tmp_path: Path) -> None:
    text = OPTIMIZER.replace("recompile_limit = 1", "recompile_limit = 8")
    (again,) = (item for item in findings(tmp_path, text) if "'lr'" in item.message)
    assert "was 0.1, is now any float (in `SGD.step`, torch/optim/sgd.py:" in again.message
    (limit,) = (item for item in findings(tmp_path, OPTIMIZER) if "Model" in item.message)
    assert limit.message.startswith("`Model.forward` reached the recompile limit of 1: new calls run eagerly")


def test_only_the_rest_of_a_function_that_broke_before_runs_eagerly(tmp_path: Path) -> None:
    first, second = findings(tmp_path, BREAK_UNDER_CONTEXT.format("\n    print(y)"))
    assert "eagerly" not in first.message
    assert second.message.endswith("; the rest of `f` runs eagerly")


def test_a_function_is_compiled_up_to_the_last_place_that_can_be_resumed(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, UP_TO)
    assert found.message.endswith("; `f` is compiled up to an earlier line, and the rest of it runs eagerly")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CHECKPOINT, "Inside of the higher-order operator `torch.utils.checkpoint.checkpoint`.\n"),
        (COND, "Inside of the higher-order operator `torch.cond`, which must be captured completely.\n"),
    ],
)
def test_a_break_names_its_higher_order_operator(tmp_path: Path, text: str, words: str) -> None:
    (found,) = findings(tmp_path, text)
    assert words in found.explanation
    assert not found.message.startswith("This higher order operator")


@pytest.mark.parametrize(
    ("fullgraph", "severity", "message"),
    [
        (False, "warning", "Backend compiler exception; the whole of `f` runs eagerly"),
        (True, "error", "Backend compiler exception"),
    ],
)
def test_a_backend_that_fails_is_told_once(
    tmp_path: Path, fullgraph: bool, severity: str, message: str
) -> None:
    (found,) = findings(tmp_path, BACKEND.format(fullgraph))
    assert (found.code, found.severity, found.message) == ("GB0219", severity, message)


def test_a_forbidden_recompilation_has_a_cause(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, NO_RECOMPILE)
    why = "size of `x` at dimension 0 was 2, is now 3"
    assert found.message == f"RecompileError: `f` would have to be compiled again: {why}"
    # What the next graph would have assumed is not known, so that no advice is sure.
    assert found.hints == ()


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            TWO_STATES,
            [f"recompiled: grad mode {OFF}, and deterministic algorithms {ON}"],
        ),
        (CLOSURE.format("3, torch.ones(2)"), ["recompiled: `scale` was 2, is now any int"]),
        (
            CLOSURE.format("2, torch.ones(2, dtype=torch.float64)"),
            ["recompiled: dtype of `shift` was torch.float32, is now torch.float64"],
        ),
        (NAN, ["recompiled: `factor` was nan, is now any float"]),
        (MARKED, ["recompiled: a tensor's sizes are marked as dynamic or static differently"]),
    ],
)
def test_what_changed_is_told_in_words(tmp_path: Path, text: str, messages: list[str]) -> None:
    assert [found.message for found in findings(tmp_path, text)] == messages


def test_a_number_that_is_compiled_for_each_value_is_told_with_its_values(tmp_path: Path) -> None:
    found = [finding.message for finding in findings(tmp_path, FLOATS)]
    assert "recompiled 2 times: `decay` was 0.18, then 1.18 and 2.18" in found
    assert not [message for message in found if "any float" in message or "type float" in message]


def test_messages_have_no_addresses(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, ADDRESSES)
    assert found.message == "ValueError: <__main__.Own> and <function own>"
    assert " at 0x" not in found.text


def test_all_that_torch_says_of_an_error_is_told(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, CONSTRAINT)
    assert found.message == "`x.shape[0]` becomes 4 here, though it is marked dynamic"
    assert found.explanation.startswith("ConstraintViolationError: You marked L['x']")
    assert "your code specialized it to be a constant (4)" in found.explanation
    assert "bug in torch" not in found.explanation


def test_a_bug_of_torch_is_told_as_one(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, BUG)
    assert found.message.startswith("Dynamo failed: TypeError: ")
    assert found.explanation.endswith("This is a bug in torch, not in the program.")
