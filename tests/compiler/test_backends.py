"""The debugging backends compute what eager does, and the faults fail where they are told to."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import torch
from fullgraph_compiler.backends import registry
from fullgraph_compiler.backends.faults import Fault
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


@pytest.mark.parametrize("backend", registry.BACKENDS, ids=lambda backend: backend.name)
def test_a_backend_computes_what_eager_does(backend: registry.Backend) -> None:
    def call() -> list[list[float]]:
        warnings.simplefilter("ignore")
        registry.register()
        # A pool of compiling processes would outlive the child.
        torch._inductor.config.compile_threads = 1
        return numbers(torch.compile(program, backend=backend.usable_name(), fullgraph=True), *inputs())

    expected = in_child(lambda: numbers(program, *inputs()))
    for found, wanted in zip(in_child(call), expected, strict=True):
        assert found == pytest.approx(wanted, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "torch_version", "usable"),
    [
        ("aot_eager", "2.11.0", "aot_eager"),
        ("ts", "2.13.0+cpu", "fullgraph_ts"),
        ("ts", "2.15.0", "ts"),
        ("fullgraph_aot_ts", "2.14.1", "fullgraph_aot_ts"),
        (
            "aot_eager_decomp_partition_with_mode",
            "2.15.0",
            "fullgraph_aot_eager_decomp_partition_with_mode",
        ),
    ],
)
def test_where_torch_has_none_ours_stands_in(
    monkeypatch: pytest.MonkeyPatch, name: str, torch_version: str, usable: str
) -> None:
    monkeypatch.setattr(torch_compat, "version", lambda: torch_version)
    assert registry.find(name).usable_name() == usable


def test_where_torch_dropped_one_ours_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = registry.Backend("old", "", "", until=(2, 12), stand_in="fullgraph_old")
    for torch_version, usable in (("2.12.1", "old"), ("2.13.0", "fullgraph_old")):
        monkeypatch.setattr(torch_compat, "version", lambda version=torch_version: version)
        assert backend.usable_name() == usable


def test_an_unknown_backend_is_told_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match="no debugging backend 'aot_eagre'; there are eager, "):
        registry.find("aot_eagre")


def test_every_name_of_ours_is_an_entry_point() -> None:
    for name, place in registry.ENTRY_POINTS.items():
        assert callable(EntryPoint(name, place, "torch_dynamo_backends").load())
    assert {b.stand_in for b in registry.BACKENDS if b.stand_in} <= registry.ENTRY_POINTS.keys()


def test_the_operator_that_makes_a_nan_is_named() -> None:
    def call(function: Callable[..., torch.Tensor]) -> str:
        registry.register()
        name = registry.find("aot_eager_decomp_partition_with_mode").usable_name()
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
def test_a_fault_fails_at_its_stage_and_phase(form: str) -> None:
    def call() -> dict[str, list[str]]:
        answers = {}
        for stage, phase in itertools.product(("compile", "runtime", "accuracy"), ("forward", "backward")):
            torch.compiler.reset()
            answers[f"{stage} {phase}"] = stage_of(FORMS[form], Fault("relu", stage, phase))
        return answers

    found = in_child(call)
    (compile_error,) = found["compile forward"]
    assert compile_error.startswith("BackendCompilerFailed: ")
    assert "InjectedError: relu: compile error, injected at " in compile_error
    (runtime_error,) = found["runtime forward"]
    assert runtime_error.startswith("InjectedError: relu: runtime error, injected at ")
    assert runtime_error.endswith(" of the forward graph")
    assert found["accuracy forward"][0] == "forward differs"
    assert not found["accuracy forward"][1].startswith("RuntimeError")
    for stage in ("compile", "runtime"):
        forward, error = found[f"{stage} backward"]
        assert forward == "forward"
        place = "threshold_backward of the backward graph"
        assert error == f"InjectedError: relu: {stage} error, injected at {place}"
    assert found["accuracy backward"] == ["forward", "backward differs"]


@pytest.mark.parametrize(
    ("op", "phase", "is_hit"),
    [
        ("relu", "forward", True),
        ("ReLU", "forward", True),
        ("sum", "forward", True),
        ("mul", "forward", True),
        ("aten.relu.default", "forward", False),  # Dynamo's graph has torch.relu
        ("sigmoid", "forward", False),
        ("threshold_backward", "backward", True),
        ("aten.threshold_backward.default", "backward", True),
        ("mul", "backward", True),
        ("aten.mul.Scalar", "backward", False),
        ("sigmoid", "backward", False),
    ],
)
def test_which_operator_is_meant(op: str, phase: Any, is_hit: bool) -> None:
    found = in_child(lambda: stage_of(FORMS["function"], Fault(op, "compile", phase)))
    assert ("InjectedError" in found[-1]) is is_hit
    assert is_hit or found == ["forward", "backward"]


def test_augmented_assignment_is_the_operator_in_place() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y += 1
        return y.sum()

    assert in_child(lambda: stage_of(function, Fault("add", "accuracy"))) == ["forward differs", "backward"]
    assert in_child(lambda: stage_of(function, Fault("iadd", "accuracy"))) == ["forward", "backward"]


def test_results_that_are_no_float_tensors_are_spoilt_too() -> None:
    def call() -> list[Any]:
        x = torch.tensor([[1.0, 3.0, 2.0]])
        largest = torch.compile(lambda x: x.topk(1), backend=Fault("topk", "accuracy"))(x)
        positive = torch.compile(lambda x: x.gt(2), backend=Fault("gt", "accuracy"))(x)
        return [largest[0].item(), largest[1].item(), positive.tolist()]

    assert in_child(call) == [4, 2, [[True, False, True]]]


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
    assert "an input that is no leaf" in in_child(lambda: call(leaf=False, size=3))


def test_the_package_announces_the_same_names() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
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
