"""The debugging backends compute what eager does, and the faults fail where they are told to."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import torch
from fullgraph_compiler.backends import registry
from fullgraph_compiler.compat import backend_compat, torch_compat
from in_child import in_child

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.softmax(torch.nn.functional.gelu(x @ w), -1).pow(2).sum()


def inputs() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(size, 4, generator=generator).requires_grad_() for size in (3, 4)]


def numbers(function: Callable[..., torch.Tensor], *args: torch.Tensor) -> list[list[float]]:
    """A function's result and its gradients."""
    result = function(*args)
    gradients = torch.autograd.grad(result, args)
    return [tensor.detach().flatten().tolist() for tensor in (result, *gradients)]


# -- the registry ------------------------------------------------------------------------------


# Those of the table in docs/failures.md.
BACKENDS = [
    "eager",
    "eager_noexcept",
    "eager_debug",
    "pre_dispatch_eager",
    "aot_eager",
    "aot_eager_default_partitioner",
    "aot_eager_decomp_partition",
    "fullgraph_aot_eager_decomp_partition_with_mode",
    "aot_eager_decomp_partition_crossref",
    *(["ts", "aot_ts"] if torch_compat.release() >= (2, 15) else []),
    "fullgraph_ts",
    "fullgraph_aot_ts",
    "inductor",
]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_computes_what_eager_does(backend: str) -> None:
    def call() -> list[list[float]]:
        warnings.simplefilter("ignore")
        registry.register()
        # A pool of compiling processes would outlive the child.
        torch._inductor.config.compile_threads = 1
        return numbers(torch.compile(program, backend=backend, fullgraph=True), *inputs())

    expected = in_child(lambda: numbers(program, *inputs()))
    for found, wanted in zip(in_child(call), expected, strict=True):
        assert found == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_every_name_of_ours_is_an_entry_point() -> None:
    for name, place in registry.ENTRY_POINTS.items():
        assert callable(EntryPoint(name, place, "torch_dynamo_backends").load())


def test_the_operator_that_makes_a_nan_is_named() -> None:
    def call(function: Callable[..., torch.Tensor]) -> str:
        registry.register()
        name = "fullgraph_aot_eager_decomp_partition_with_mode"
        try:
            torch.compile(function, backend=name)(torch.zeros(2).requires_grad_()).sum().backward()
        except FloatingPointError as error:
            return str(error)
        return "no NaN"

    in_forward, in_backward, nowhere = in_child(
        lambda: [
            call(lambda x: torch.exp(torch.log(x - 1) + 1)),
            call(lambda x: torch.sqrt(x) * 0),  # whose gradient is 0 / 0
            call(lambda x: torch.log(x + 1)),
        ]
    )
    assert in_forward.startswith("aten.log.default ")
    assert in_backward.startswith("aten.div.Tensor ")
    assert nowhere == "no NaN"


# -- faults ------------------------------------------------------------------------------------


def in_place(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y.relu_()
    return y.sum()


def module(*, inplace: bool) -> torch.nn.Module:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.activation = torch.nn.ReLU(inplace=inplace)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x * 2
            z = self.activation(y)
            return (y if inplace else z).sum()

    return Model()


FORMS: dict[str, Callable[..., torch.Tensor]] = {
    "function": lambda x: torch.relu(x * 2).sum(),
    "functional": lambda x: torch.nn.functional.relu(x * 2).sum(),
    "method": lambda x: (x * 2).relu().sum(),
    "in-place": in_place,
    "module": module(inplace=False),
    "in-place module": module(inplace=True),
    "overload": lambda x: torch.ops.aten.relu.default(x * 2).sum(),
}


def stage_of(function: Callable[..., torch.Tensor], backend: Any) -> list[str]:
    """What differs from eager: what is raised, or which numbers."""
    x = torch.tensor([-1.0, 2.0, 3.0]).requires_grad_()
    result, gradient = numbers(function, x)
    events = []
    try:
        compiled = torch.compile(function, backend=backend)
        found = compiled(x)
        events.append("forward" if found.item() == result[0] else "forward differs")
        (found_gradient,) = torch.autograd.grad(found, x)
        events.append("backward" if found_gradient.tolist() == gradient else "backward differs")
    except Exception as error:
        events.append(f"{type(error).__name__}: {str(error).strip()}")
    return events


@pytest.mark.parametrize("form", FORMS)
def test_a_fault_fails_at_its_stage(form: str) -> None:
    def call() -> list[list[str]]:
        registry.register()
        answers = []
        for stage in ("compile", "runtime", "accuracy"):
            torch.compiler.reset()
            answers.append(stage_of(FORMS[form], f"fullgraph_relu_{stage}_error"))
        return answers

    (compile_error,), (runtime_error,), accuracy = in_child(call)
    assert compile_error.startswith("BackendCompilerFailed: ")
    assert "InjectedError: relu: compile error, injected at " in compile_error
    assert runtime_error.startswith("InjectedError: relu: runtime error, injected at ")
    assert accuracy[0] == "forward differs"
    assert not accuracy[1].startswith("RuntimeError")


@pytest.mark.parametrize("stage", ["compile", "runtime", "accuracy"])
def test_a_graph_without_relu_has_no_fault(stage: str) -> None:
    def call() -> list[str]:
        registry.register()
        return stage_of(lambda x: torch.sigmoid(x * 2).sum(), f"fullgraph_relu_{stage}_error")

    assert in_child(call) == ["forward", "backward"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fullgraph_relu_compile_error", ["BackendCompilerFailed"]),
        ("fullgraph_relu_runtime_error", ["InjectedError"]),
        ("fullgraph_relu_accuracy_error", ["forward differs", "backward"]),
        ("fullgraph_non_leaf_compile_error", ["forward", "backward"]),
    ],
)
def test_the_faults_by_name(name: str, expected: list[str]) -> None:
    def call() -> list[str]:
        registry.register()
        return stage_of(FORMS["method"], name)

    assert [event.partition(":")[0] for event in in_child(call)] == expected


def test_the_result_of_something_else_does_not_compile() -> None:
    def call(*, leaf: bool, size: int | torch.Tensor) -> str:
        registry.register()
        x = torch.ones(2).requires_grad_()
        compiled = torch.compile(lambda x, n: x * n, backend="fullgraph_non_leaf_compile_error", dynamic=True)
        try:
            compiled(x if leaf else x * 2, size)
        except Exception as error:
            return str(error)
        return "compiled"

    assert in_child(lambda: call(leaf=True, size=3)) == "compiled"
    assert "a non-leaf input" in in_child(lambda: call(leaf=False, size=3))


def test_the_package_announces_the_same_names() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    assert project["entry-points"]["torch_dynamo_backends"] == registry.ENTRY_POINTS


# -- runs of depth "graph" -----------------------------------------------------------------------


def test_a_graph_that_runs_as_it_is_draws_what_uncompiled_code_draws() -> None:
    def drawn(function: Callable[..., torch.Tensor]) -> list[list[float]]:
        torch.manual_seed(0)
        result = function(torch.ones(4, 8))
        return [result.flatten().tolist(), torch.rand(3).tolist()]

    def random(x: torch.Tensor) -> torch.Tensor:
        noise = torch.rand_like(x) + torch.randn(8) + torch.bernoulli(x / 2)
        return torch.nn.functional.dropout(x, 0.5) + noise

    def call() -> list[list[list[float]]]:
        backend_compat.stop_after_aot()
        return [drawn(torch.compile(random)), drawn(random)]

    compiled, uncompiled = in_child(call)
    assert compiled == uncompiled
