"""How a compiled program fails: its exceptions, its numbers, and which two failures are the same."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from fullgraph_compiler.cases import checking
from fullgraph_compiler.facts import Failure, from_json, to_json
from in_child import in_child

PROGRAM = """
import torch

class Repro(torch.nn.Module):
    def forward(self, x):
        {forward}

def inputs():
    torch.manual_seed(0)
    return [{x}]

{backend}

def compiled(module, args):
    torch._inductor.config.compile_threads = 1
    torch._inductor.config.force_disable_caches = True
    torch._inductor.config.fallback_random = True
    return torch.compile(module, backend={name})
"""
AHEAD_OF_TIME = """
from torch._dynamo.backends.common import aot_autograd

def fine(graph, inputs):
    return graph

def broken(graph, inputs):
    raise ValueError("no such operator")

def broken_later(graph, inputs):
    def run(*args):
        raise ValueError("no such kernel")
    return run

"""


def examined(
    forward: str,
    backend: str = "eager",
    x: str = "torch.randn(4, 8)",
    numerics: bool = True,
) -> Failure | None:
    """How a program fails; the backend is a name, or statements that define ``backend``."""
    name = "backend" if "backend" in backend else repr(backend)
    text = PROGRAM.format(
        forward=textwrap.indent(forward, " " * 8).strip(),
        x=x,
        backend=backend if name == "backend" else "",
        name=name,
    )

    def call() -> Any:
        namespace: dict[str, Any] = {"__name__": "repro"}
        exec(compile(text, "<repro>", "exec"), namespace)
        return to_json(checking.examine(namespace, numerics))

    failure: Failure | None = from_json(in_child(call))
    return failure


def changed(expression: str) -> str:
    """A backend whose first output is something else than it should be: an expression with ``out``."""
    return (
        "def backend(graph, inputs):\n    def run(*args):\n        out, *others = graph(*args)\n"
        f"        return [{expression}, *others]\n    return run"
    )


GRADIENT = "torch.randn(4, 8).requires_grad_()"


# -- what is wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("compile", "ReluCompileError", "in relu_compile_error_TESTING_ONLY"),
        ("runtime", "AssertionError", "ReluRuntimeError"),
    ],
)
def test_an_error_is_told_by_its_cause(fault: str, error: str, message: str) -> None:
    found = examined("return [torch.relu(x)]", f"relu_{fault}_error_TESTING_ONLY")
    assert found is not None
    assert (found.kind, found.error, found.message, found.phase) == ("error", error, message, "forward")
    assert "Traceback" in found.text


@pytest.mark.parametrize(
    ("compilers", "phase", "message"),
    [
        ("fw_compiler=broken, bw_compiler=fine", "forward", "no such operator"),
        ("fw_compiler=fine, bw_compiler=broken", "backward", "no such operator"),
        ("fw_compiler=broken_later, bw_compiler=fine", "forward", "no such kernel"),
        ("fw_compiler=fine, bw_compiler=broken_later", "backward", "no such kernel"),
    ],
)
def test_an_error_of_the_backward_graph_is_one_of_the_backward_pass(
    compilers: str, phase: str, message: str
) -> None:
    found = examined("return [x.sin()]", f"{AHEAD_OF_TIME}backend = aot_autograd({compilers})", GRADIENT)
    assert found is not None
    assert (found.error, found.message, found.phase) == ("ValueError", message, phase)


def test_a_failed_lowering_is_told_by_its_cause() -> None:
    broken = """
        import torch._inductor.lowering
        def broken(x):
            raise AssertionError("relu has no lowering")
        torch._inductor.lowering.lowerings[torch.ops.aten.relu.default] = broken
        backend = "inductor"
    """
    found = examined("return [torch.relu(x)]", textwrap.dedent(broken))
    assert found is not None
    assert (found.error, found.message) == ("AssertionError", "relu has no lowering")


def test_a_program_that_fails_by_itself_is_no_failure_of_the_compiler() -> None:
    found = examined("return [x.foo()]")
    assert found is not None
    assert (found.error, found.message[:14]) == (checking.UNCOMPILED, "AttributeError")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("out + 1", "output 0: off by 1.0e+00 (tolerance "),
        ("out[0]", "output 0: torch.float32 [8], uncompiled torch.float32 [4, 8]"),
        ("out.double()", "output 0: torch.float64 [4, 8], uncompiled torch.float32 [4, 8]"),
        ("out.index_fill(0, torch.tensor(1), torch.nan)", "output 0 at [1, 0]: NaN, uncompiled "),
        ("out.index_fill(1, torch.tensor(2), torch.inf)", "output 0 at [0, 2]: inf, uncompiled "),
    ],
)
def test_other_numbers_are_a_failure(wrong: str, message: str) -> None:
    found = examined("return [x.sin(), x.cos()]", changed(wrong))
    assert found is not None
    assert (found.kind, found.phase) == ("accuracy", "forward")
    assert found.error == ("NaN" if "nan" in wrong else "Numbers")
    assert found.message.startswith(message)
    assert examined("return [x.sin(), x.cos()]", changed(wrong), numerics=False) is None


def test_a_single_element_counts() -> None:
    found = examined("return [x.sum()]", changed("out * 1.01"))
    assert found is not None
    assert found.message.startswith("output 0: off by ")


def test_whole_numbers_have_to_be_the_same() -> None:
    found = examined("return [x.argmax(1)]", changed("out + 1"))
    assert found is not None
    assert found.message.startswith("output 0: off by 1.0e+00 (tolerance 0e+00) at [0]: ")


def test_gradients_are_compared() -> None:
    found = examined("return [x.sin()]", changed("out + 0.5 * (args[0] - args[0].detach())"), GRADIENT)
    assert found is not None
    assert (found.kind, found.phase) == ("accuracy", "backward")
    assert found.message.startswith("gradient of x: off by ")
    found = examined("return [x.sin()]", changed("out.detach()"), GRADIENT)
    assert found is not None
    assert found.message == "gradient of x: missing"


def test_inputs_are_compared_after_the_call() -> None:
    lost = "def backend(graph, inputs):\n    return lambda x: graph(x.clone())"
    found = examined("x.add_(1)\nreturn [x.sin()]", lost)
    assert found is not None
    assert found.message.startswith("x after the call: off by 1.0e+00")


# -- what is not wrong -------------------------------------------------------------------------

HALF = "torch.randn(64, 512, dtype=torch.float16).requires_grad_()"


@pytest.mark.parametrize(
    ("backend", "forward", "x"),
    [
        pytest.param(
            "inductor",
            "y = torch.softmax(x * 4, -1)\nreturn [y.sum(0), (x * x).sum(), x * 300 * 300 / 9e4]",
            HALF,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "inductor",
            "y = ((x * x - x) * 1000).sin()\nreturn [y, y.cumsum(0)]",
            HALF,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "inductor",
            "y = torch.nn.functional.dropout(x, 0.5)\nreturn [y * torch.rand_like(y)]",
            GRADIENT,
            marks=pytest.mark.slow,
        ),
        ("aot_eager", "return [x.relu()]", "torch.randn(8, 4).t()"),
        ("aot_eager", "return [x.add_(1).sin()]", "torch.randn(4).requires_grad_().clone()"),
    ],
    ids=["sums of halves", "cancellation", "random numbers", "strides", "in place"],
)
def test_rounding_is_no_failure(backend: str, forward: str, x: str) -> None:
    assert examined(forward, backend, x) is None


def test_a_nan_that_only_the_uncompiled_program_has_is_no_failure() -> None:
    # Infinity minus infinity in float16, which float64 does not reach.
    forward = "y = x * 60000\nreturn [(y - y) * 0 + 1]"
    half = "torch.full((4,), 2.0, dtype=torch.float16)"
    assert examined(forward, changed("torch.ones_like(out)"), half) is None
    assert examined(forward, changed("torch.zeros_like(out)"), half) is not None


def test_random_numbers_are_the_same_in_float64() -> None:
    # Without that, float64 would be far from both, and nothing wrong.
    forward = "return [torch.nn.functional.dropout(x, 0.5) * 2]"
    assert examined(forward, changed("out * 1.1"), GRADIENT) is not None
    assert (
        examined(forward, changed("out * 1.1"), GRADIENT.replace(")", ", dtype=torch.float64)", 1))
        is not None
    )


# -- which are the same ------------------------------------------------------------------------


def error(message: str, name: str = "ValueError", phase: Any = "forward") -> Failure:
    return Failure("error", name, message, phase, "a traceback")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (error("no relu_1 for [2, 3]"), error("no relu_22 for [4]")),
        (error("'a' at 0x7f is 1.5e-3"), error("'b_c' at 0xab is -7")),
        (error("/tmp/a/b.cpp:12:3: error: wrong"), error("/tmp/c.cpp:1:33: error: wrong")),
        (Failure("crash", "SIGSEGV", "here"), Failure("crash", "SIGSEGV", "there", "backward")),
        (Failure("hang", "Hang", "10 s"), Failure("hang", "Hang", "20 s")),
        (Failure("accuracy", "Numbers", "output 0"), Failure("accuracy", "Numbers", "output 1")),
    ],
)
def test_failures_that_are_the_same(one: Failure, other: Failure) -> None:
    assert checking.same_failure(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (error("no relu"), error("no sin")),
        (error("no relu"), error("no relu", "TypeError")),
        (error("no relu"), error("no relu", phase="backward")),
        (error("no relu", checking.UNCOMPILED), error("no relu")),
        (Failure("crash", "SIGSEGV", ""), Failure("crash", "SIGABRT", "")),
        (Failure("crash", "SIGSEGV", ""), Failure("hang", "Hang", "")),
        (Failure("accuracy", "NaN", ""), Failure("accuracy", "Numbers", "")),
        (Failure("accuracy", "NaN", ""), Failure("accuracy", "NaN", "", "backward")),
    ],
)
def test_failures_that_are_not_the_same(one: Failure, other: Failure) -> None:
    assert not checking.same_failure(one, other)
    assert not checking.same_failure(other, one)
