"""Backends that fail on purpose, at a chosen operator and stage, to test the diagnosis of failures.

torch has four for its own tests (``*_TESTING_ONLY`` in ``torch/_dynamo/backends/debugging.py``), which
support only ``torch.relu`` called as a function, and only forward graphs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import torch

from ..compat import backend_compat

Stage: TypeAlias = Literal["compile", "runtime", "accuracy"]
Phase: TypeAlias = Literal["forward", "backward"]


class InjectedError(RuntimeError):
    """The error that a fault raises."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A backend that runs graphs eagerly, except for one operator that fails at one stage.

    ``op`` is the bare name of an operator (``relu``, ``add``), which matches the function, method, module,
    in-place and ATen overloads, or one overload (``aten.threshold_backward.default``). In the backward phase
    the bare name of an operator of the program also matches the operations that compute its gradient. Forward
    faults are injected into Dynamo's graph, backward ones into the backward graph of AOTAutograd.
    """

    op: str
    stage: Stage
    phase: Phase = "forward"

    def __call__(self, graph: torch.fx.GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        """Compile one of Dynamo's graphs."""
        if self.phase == "forward":
            self._put_into(graph)
            run: Callable[..., Any] = graph.forward
            return run
        return backend_compat.compile_ahead_of_time(
            graph, inputs, backend_compat.run_graph, self._compile_backward
        )

    def _compile_backward(self, graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        self._put_into(graph)
        return backend_compat.run_graph(graph, inputs)

    def _put_into(self, graph: torch.fx.GraphModule) -> None:
        for module in [item for item in graph.modules() if isinstance(item, torch.fx.GraphModule)]:
            targets = [node for node in module.graph.nodes if self._is_meant(node, module)]
            for node in targets:
                self._change(node)
            if targets:
                module.recompile()

    def _change(self, node: torch.fx.Node) -> None:
        message = f"{self.op}: {self.stage} error, injected at {node.name} of the {self.phase} graph"
        if self.stage == "compile":
            raise InjectedError(message)
        with node.graph.inserting_after(node):
            change = _fail if self.stage == "runtime" else _spoil_in_place if _is_in_place(node) else _spoil
            changed = node.graph.call_function(change, (node, message))
            node.replace_all_uses_with(changed, delete_user_cb=lambda user: user is not changed)

    def _is_meant(self, node: torch.fx.Node, module: torch.fx.GraphModule) -> bool:
        if not node.op.startswith("call_"):
            return False
        if node.op == "call_module":
            return _bare(type(module.get_submodule(str(node.target))).__name__) == _bare(self.op)
        names = [_name(node.target)]
        if self.phase == "backward" and names != ["detach"]:
            # AOTAutograd stores the call whose gradient a node computes in its meta (2.13 to 2.15), and
            # first detaches the tensors saved for it.
            names += [_name(source) for _, source in (node.meta.get("fwd_source_fn_stack") or ())[-1:]]
        return str(node.target) == self.op or _bare(self.op) in map(_bare, names)


def relu_compile_error(graph: torch.fx.GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """Fail to compile a graph with a relu."""
    return Fault("relu", "compile")(graph, inputs)


def relu_runtime_error(graph: torch.fx.GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """Fail when a relu runs."""
    return Fault("relu", "runtime")(graph, inputs)


def relu_accuracy_error(graph: torch.fx.GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """Compute relu wrongly."""
    return Fault("relu", "accuracy")(graph, inputs)


def non_leaf_compile_error(
    graph: torch.fx.GraphModule, inputs: Sequence[Any], **_: Any
) -> Callable[..., Any]:
    """Fail to compile a graph with an operation and an input that is no leaf."""
    does_something = any(node.op.startswith("call_") for node in graph.graph.nodes)
    if does_something and any(isinstance(item, torch.Tensor) and not item.is_leaf for item in inputs):
        raise InjectedError("compile error, injected where a graph has an input that is no leaf")
    run: Callable[..., Any] = graph.forward
    return run


def _name(target: Any) -> str:
    """Return the usual name of a call's target: that of ``aten.add_.Tensor`` is ``add_``."""
    if isinstance(target, str):
        return target
    name = str(getattr(target, "__name__", target)).partition(".")[0]
    return f"{name[1:]}_" if _is_augmented(target) else name


def _bare(name: str) -> str:
    return name.lower().replace("_", "")


def _is_augmented(target: Any) -> bool:
    """Tell whether this is a function for an augmented assignment: ``operator.iadd`` for ``+=``."""
    name = str(getattr(target, "__name__", ""))
    return name[:1] == "i" and getattr(operator, name, None) is target and hasattr(operator, name[1:])


def _is_in_place(node: torch.fx.Node) -> bool:
    name = _name(node.target)
    return node.kwargs.get("inplace") is True or (name.endswith("_") and not name.endswith("__"))


def _fail(_: Any, message: str) -> Any:
    raise InjectedError(message)


def _spoil(value: Any, message: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value.logical_not() if value.dtype == torch.bool else value + 1
    if isinstance(value, (list, tuple)):
        return type(value)(_spoil(item, message) for item in value)
    return value


def _spoil_in_place(value: Any, _: str) -> Any:
    # Other operations use the changed tensor, not the result. ``data`` hides the change from autograd.
    value.data.copy_(_spoil(value.data, ""))
    return value
