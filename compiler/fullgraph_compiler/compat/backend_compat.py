"""Backends: look them up, wrap or replace them, and use parts of them.

Each docstring says where torch keeps a name, and in which of the supported versions (2.11 to 2.15) that was
checked.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

_left_out: list[str] = []
_reduced_on_cpu: list[bool] = []
"""One item for each graph on the CPU that was compiled with ``mode="reduce-overhead"``."""


def left_out() -> tuple[str, ...]:
    """Return the parts of the compiler that graphs of this process skipped."""
    return tuple(_left_out)


def is_mode_of_gpu_alone() -> bool:
    """Return whether the program compiled a CPU graph with ``reduce-overhead``.

    This mode affects only GPUs.
    """
    return bool(_reduced_on_cpu)


def stop_after_dynamo() -> None:
    """Run Dynamo's graphs uncompiled whenever TorchInductor would compile them."""
    _replace_inductor(lambda graph, _: graph.forward, ("AOTAutograd", "TorchInductor"))


def stop_after_aot() -> None:
    """Run AOTAutograd's graphs uncompiled whenever TorchInductor would compile them.

    AOTAutograd affects later guards: numbers become constants, sizes are compared, results get strides. So
    AOTAutograd gets TorchInductor's decompositions, as from ``compile_fx``
    (``torch/_inductor/compile_fx.py``). Steps that affect no guard are left out: TorchInductor's passes, the
    search for the best partition, and the texts of graphs (``AOTConfig.enable_log``). 2.11 to 2.15.
    """
    from torch._functorch._aot_autograd.schemas import AOTConfig

    AOTConfig.enable_log = property(lambda _: False, lambda *_: None)
    _replace_inductor(trace_ahead_of_time, ("TorchInductor",))


def trace_ahead_of_time(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compile one of Dynamo's graphs with AOTAutograd only.

    The resulting graphs run uncompiled.
    """
    import torch._functorch.config
    import torch._inductor.config
    from torch._dynamo.backends.common import aot_autograd
    from torch._inductor.decomposition import select_decomp_table
    from torch.fx._lazy_graph_module import _use_lazy_graph_module

    torch._inductor.__getattr__ = _module_of_inductor
    with torch._inductor.config.patch(fallback_random=True):  # the same random numbers as uncompiled
        decompositions = select_decomp_table()
    compile_ahead = aot_autograd(
        fw_compiler=_as_it_is,
        bw_compiler=_as_it_is,
        decompositions=decompositions,
        keep_inference_input_mutations=True,
    )
    with torch._functorch.config.patch(unlift_effect_tokens=True), _use_lazy_graph_module(True):
        compiled: Callable[..., Any] = compile_ahead(graph, inputs)
    return compiled


def _module_of_inductor(name: str) -> Any:
    """Import ``torch._inductor.lowering`` for code that uses it without importing it.

    The decomposition of ``max_pool2d_with_indices`` is such code (``torch/_inductor/decomposition.py``: 2.13
    to 2.15). The import takes most of a second, so programs that do not need it do not import it.
    """
    if name != "lowering":
        raise AttributeError(name)
    return importlib.import_module("torch._inductor.lowering")


def _as_it_is(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Run a graph of AOTAutograd without dispatch to tensor subclasses.

    TorchInductor's code also runs without this dispatch.
    """
    _make_numbers_of_sizes(graph)
    run = run_graph(graph, inputs)
    plain = (torch.Tensor, torch.nn.Parameter)
    outputs = [_strides_of_ones(output) for output in graph.graph.output_node().args[0]]

    def run_undispatched(values: list[Any]) -> Any:
        if all(type(value) in plain or not isinstance(value, torch.Tensor) for value in values):
            results = run(values)
        else:
            with torch._C._DisableTorchDispatch():
                results = run(values)
        return [_with_strides(result, ones) for result, ones in zip(results, outputs, strict=True)]

    run_undispatched._boxed_call = True  # type: ignore[attr-defined]
    return run_undispatched


_NEEDS_NUMBERS = ("_adaptive_avg_pool2d", "adaptive_max_pool2d", "upsample_nearest2d_backward")
"""Operators for which TorchInductor specializes the last two sizes of the input to constants."""


def _make_numbers_of_sizes(graph: torch.fx.GraphModule) -> None:
    """Specialize the symbolic sizes that TorchInductor would specialize.

    Guards compare later calls with these sizes. TorchInductor calls ``guard_int`` in the lowerings of
    ``torch/_inductor/lowering.py`` (torch 2.13 to 2.15).
    """
    for node in graph.graph.nodes:
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            continue
        name, values = node.target.overloadpacket.__name__, node.all_input_nodes
        value = values[0].meta.get("val") if values else None
        if not isinstance(value, torch.Tensor):
            continue
        if name == "glu":
            sizes = [value.shape[node.args[1] if len(node.args) > 1 else -1]]
        else:
            sizes = list(value.shape[-2:]) if name in _NEEDS_NUMBERS else []
        for size in sizes:
            if isinstance(size, torch.SymInt) and size.node.hint is not None:
                int(size)


def _strides_of_ones(output: Any) -> dict[int, int]:
    """Return the strides of an output's dimensions of size one, by dimension.

    Symbolic strides are left out. Operators choose these strides by their own rules, but TorchInductor takes
    the strides of the traced graph (``try_match_insignificant_strides`` in ``torch/_inductor/ir.py``), and a
    guard compares them.
    """
    traced = output.meta.get("val") if isinstance(output, torch.fx.Node) else None
    if not isinstance(traced, torch.Tensor) or traced.layout is not torch.strided:
        return {}
    sizes = zip(traced.size(), traced.stride(), strict=True)
    return {
        dimension: stride
        for dimension, (size, stride) in enumerate(sizes)
        if isinstance(size, int) and size == 1 and isinstance(stride, int)
    }


def _with_strides(result: Any, ones: dict[int, int]) -> Any:
    """Return a view of ``result`` with the strides ``ones`` in dimensions of size one.

    Strides in such dimensions do not affect the elements.
    """
    if not ones:
        return result
    strides = [ones.get(dimension, stride) for dimension, stride in enumerate(result.stride())]
    if strides == list(result.stride()):
        return result
    return result.as_strided(result.size(), strides)


def _replace_inductor(
    compile_graph: Callable[[Any, Any], Callable[..., Any]], without: tuple[str, ...]
) -> None:
    """Call ``compile_graph(graph, inputs)`` instead of TorchInductor.

    ``without`` are the parts of the compiler that are skipped. ``set_stance(force_backend=...)`` is
    unsuitable: it would replace every backend, including the user's own backends, whose failures are facts,
    and the stance ends as soon as user code sets another one. So TorchInductor's two entry points are
    replaced: ``torch._TorchCompileInductorWrapper`` (``torch/__init__.py``) and the registry's "inductor"
    (``torch/_dynamo/backends``) (torch 2.11 to 2.15).
    """
    import torch._dynamo.backends.inductor
    from torch._dynamo.backends import registry

    def no_config(_: Any) -> dict[str, Any]:
        # The original imports all of TorchInductor, which takes seconds, to describe unused options.
        return {}

    def compile_without(graph: Any, inputs: Any) -> Callable[..., Any]:
        _left_out[:] = without
        return compile_graph(graph, inputs)

    def compile_in_mode(self: Any, graph: Any, inputs: Any, **_: Any) -> Callable[..., Any]:
        tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
        # `mode="reduce-overhead"` sets this (`list_mode_options` in `torch/_inductor/__init__.py`).
        if self.config == {"triton.cudagraphs": True} and all(item.device.type == "cpu" for item in tensors):
            _reduced_on_cpu.append(True)
        return compile_without(graph, inputs)

    wrapper = torch._TorchCompileInductorWrapper
    wrapper.__call__ = compile_in_mode
    wrapper.get_compiler_config = no_config
    registry._COMPILER_FNS["inductor"] = lambda graph, inputs, **_: compile_without(graph, inputs)


def lookup_backend(backend: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the backend with a name, from torch or from an entry point.

    ``lookup_backend`` is in ``backends/registry.py``.
    """
    from torch._dynamo.backends import registry

    function: Callable[..., Any] = registry.lookup_backend(backend)
    return function


def register_backend(name: str, place: str) -> None:
    """Register ``module:function`` as a backend, as an entry point would.

    The module is imported when the backend is first used. ``_BACKENDS`` (``backends/registry.py``) holds the
    entry points that torch found (torch 2.11 to 2.15).
    """
    from importlib.metadata import EntryPoint

    from torch._dynamo.backends import registry

    registry._BACKENDS.setdefault(name, EntryPoint(name, place, "torch_dynamo_backends"))


def compile_ahead_of_time(
    graph: torch.fx.GraphModule,
    inputs: Sequence[Any],
    forward: Callable[..., Any],
    backward: Callable[..., Any],
) -> Callable[..., Any]:
    """Trace a graph with AOTAutograd, and compile its forward and backward graphs.

    This uses ``aot_autograd`` (``backends/common.py``) with the default partitioner, which recomputes nothing
    of the forward graph in the backward graph (torch 2.11 to 2.15).
    """
    from torch._dynamo.backends.common import aot_autograd

    compiled: Callable[..., Any] = aot_autograd(fw_compiler=forward, bw_compiler=backward)(graph, inputs)
    return compiled


def run_graph(graph: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
    """Run a graph of AOTAutograd uncompiled, as torch's ``boxed_nop`` does.

    ``boxed_nop`` (``backends/debugging.py``: 2.11 to 2.15) is unsuitable: at its first run it calls a lazy
    module (``torch/fx/_lazy_graph_module.py``), and thereby the program's global module hooks, which compiled
    code does not call.
    """
    from torch.fx._lazy_graph_module import _LazyGraphModule
    from torch.fx.graph import _BoxedCodeGen

    graph.graph.set_codegen(_BoxedCodeGen())
    graph.recompile()

    def run(values: list[Any]) -> Any:
        _LazyGraphModule.force_recompile(graph)
        return graph.forward(values)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def compile_with_torchscript(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compile a graph of ATen operators with TorchScript.

    ``ts_compile`` (``torch/_functorch/compilers.py``) (torch 2.13 to 2.15).
    """
    from torch._functorch.compilers import ts_compile

    compiled: Callable[..., Any] = ts_compile(graph, inputs)
    return compiled


def is_backend(candidate: Any, backend: Callable[..., Any]) -> bool:
    """Return whether ``candidate`` is ``backend``, perhaps in wrappers of torch.

    The wrappers hold the wrapped backend in ``_torchdynamo_orig_backend``, or in ``compiler_fn``
    (``torch._TorchCompileWrapper``) (torch 2.11 to 2.15).
    """
    while candidate is not None and candidate is not backend:
        inner = getattr(candidate, "_torchdynamo_orig_backend", None)
        candidate = inner or getattr(candidate, "compiler_fn", None)
    return candidate is backend


def intercept_backends(
    compile_graph: Callable[[Any, torch.fx.GraphModule, Sequence[Any]], Callable[..., Any]],
) -> None:
    """Compile each graph with ``compile_graph(backend, graph, inputs)``.

    ``OutputGraph._call_user_compiler`` (``output_graph.py``) calls ``compiler_fn`` (torch 2.11 to 2.15).
    """
    from torch._dynamo.output_graph import OutputGraph

    call = OutputGraph._call_user_compiler

    def call_intercepted(self: Any, graph: Any, inputs: Any) -> Any:
        backend = self.compiler_fn
        self.compiler_fn = lambda graph, inputs: compile_graph(backend, graph, inputs)
        try:
            return call(self, graph, inputs)
        finally:
            self.compiler_fn = backend

    OutputGraph._call_user_compiler = call_intercepted


def unwrapped_backend(backend: Any) -> tuple[Any, dict[str, Any]]:
    """Return the backend that a program passed to ``torch.compile``, and its options.

    A backend that torch has registered is returned as its name. ``torch._TorchCompileInductorWrapper`` has
    the options in ``config``, ``torch._TorchCompileWrapper`` in ``kwargs``; the registry's names are in
    ``_COMPILER_FNS`` (torch 2.11 to 2.15).
    """
    from torch._dynamo.backends import registry

    options: dict[str, Any] = {}
    while True:
        if isinstance(backend, torch._TorchCompileInductorWrapper):
            return "inductor", dict(backend.config)
        inner = getattr(backend, "_torchdynamo_orig_backend", None)
        if isinstance(backend, torch._TorchCompileWrapper):
            options = dict(backend.kwargs)
            inner = backend.compiler_fn
        if inner is None or inner is backend:
            break
        backend = inner
    names = [name for name, compile_fn in registry._COMPILER_FNS.items() if compile_fn is backend]
    return (names[0] if names else backend), options
