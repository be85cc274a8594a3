"""The private names of TorchInductor that this package touches: :mod:`.torch_compat` has all others.

Each entry says where torch keeps it and in which of the supported versions (2.11 to 2.15) it was read.
"""

from __future__ import annotations

import copy
import functools
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

_log = logging.getLogger(__name__)

IMPORTS = "import torch._inductor.compile_fx"
"""What a program that compiles with TorchInductor imports at its first compilation: 2.11 to 2.15."""


def triton_kernel(index: int, constants: int) -> tuple[str, dict[str, Any]]:
    """The name of a user's Triton kernel in a graph, and its constant arguments.

    ``kernel_side_table`` (``torch/_higher_order_ops/triton_kernel_wrap.py``): 2.11 to 2.15.
    """
    from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table

    kernel = kernel_side_table.get_kernel(index)
    while hasattr(kernel, "fn") and not hasattr(kernel, "__name__"):
        kernel = kernel.fn  # an autotuner, or heuristics
    return str(kernel.__name__), dict(kernel_side_table.get_constant_args(constants))


def stop_after_lowering() -> None:
    """Make TorchInductor raise ``PastLoweringError`` once it has lowered a graph.

    ``GraphLowering.compile_to_module`` and ``codegen`` (``torch/_inductor/graph.py``): 2.11 to 2.15.
    """
    from torch._inductor.graph import GraphLowering

    def stop(*_: Any, **__: Any) -> Any:
        raise PastLoweringError

    GraphLowering.compile_to_module = GraphLowering.codegen = GraphLowering.codegen_with_cpp_wrapper = stop


class PastLoweringError(Exception):
    """A graph was lowered (:func:`stop_after_lowering`)."""


def compile_with_inductor(
    graph: torch.fx.GraphModule,
    inputs: Sequence[Any],
    inner: Callable[..., Any],
) -> Callable[..., Any]:
    """Compile one of Dynamo's graphs with TorchInductor, but each graph that it is to lower with ``inner``.

    ``compile_fx`` (``torch/_inductor/compile_fx.py``): 2.11 to 2.15.
    """
    from torch._inductor.compile_fx import compile_fx

    compiled: Callable[..., Any] = compile_fx(graph, inputs, inner_compile=inner)
    return compiled


def compile_each_graph_anew() -> None:
    """Have TorchInductor compile what it would take from a cache: such a graph has no facts.

    ``fx_graph_cache`` (``torch/_inductor/config.py``) and ``enable_autograd_cache``
    (``torch/_functorch/config.py``): 2.11 to 2.15.
    """
    import torch._functorch.config
    import torch._inductor.config

    _set_in_all_threads(torch._inductor.config, "fx_graph_cache", value=False)
    _set_in_all_threads(torch._functorch.config, "enable_autograd_cache", value=False)


def keep_kernels_in(folder: str) -> None:
    """Let TorchInductor and Triton keep what they compile in a folder."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")


def is_imported() -> bool:
    """Whether this process has imported what compiling a graph needs."""
    return "torch._inductor.compile_fx" in sys.modules


def track_provenance() -> None:
    """Have TorchInductor tell which lines each kernel comes from.

    ``trace.provenance_tracking_level`` (``torch/_inductor/config.py``): 2.11 to 2.15.
    """
    import torch._inductor.config

    _set_in_all_threads(torch._inductor.config, "trace.provenance_tracking_level", value=1)


def _set_in_all_threads(config: Any, name: str, *, value: object) -> None:
    """Set what a program may set otherwise. What is set in the usual way holds in one thread only.

    ``ConfigModule._config`` and ``_ConfigEntry`` (``torch/utils/_config_module.py``): 2.11 to 2.15.
    """
    entry = config._config[name]
    entry.default = value
    if isinstance(entry.env_value_default, type(value)):
        entry.env_value_default = value


def write_code_only() -> None:
    """Make TorchInductor write its code and not load it, which compiles; the graph itself runs in its stead.

    ``PyCodeCache.load_by_key_path`` (``torch/_inductor/codecache.py``) gets attributes for the code of a
    graph only. ``_InProcessFxCompile.codegen_and_compile`` (``compile_fx.py``) has the graph before anything
    of it is lowered. Since nothing is built, the C++ compiler need not say which vector instructions of this
    CPU it knows (``VecISA.check_build``, ``cpu_vec_isa.py``). What runs instead is no CUDA graph
    (``cudagraphify``, ``compile_fx.py``; ``recursively_apply_fns``, ``output_code.py``). 2.11 to 2.15.
    """
    from torch._inductor import compile_fx
    from torch._inductor.codecache import PyCodeCache
    from torch._inductor.compile_fx import _InProcessFxCompile
    from torch._inductor.cpu_vec_isa import VecISA

    compile_graph, load = _InProcessFxCompile.codegen_and_compile, PyCodeCache.load_by_key_path
    graphs: list[torch.fx.GraphModule] = []

    def compile_and_keep(self: Any, graph: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        graphs.append(torch.fx.GraphModule(graph, copy.deepcopy(graph.graph)))
        try:
            return compile_graph(self, graph, *args, **kwargs)
        finally:
            graphs.pop()

    def load_others(
        key: str, path: str, linemap: Any = None, attrs: dict[str, Any] | None = None, **kwargs: Any
    ) -> Any:
        if attrs is None or not graphs:
            return load(key, path, linemap, attrs, **kwargs)
        module = ModuleType(key)
        module.__file__ = path
        graph = graphs[-1]

        def call(inputs: list[Any]) -> Any:
            arguments = [*inputs]
            inputs.clear()  # as the code does, so that memory is free early
            return graph(*arguments)

        module.call = call  # type: ignore[attr-defined]
        runner = SimpleNamespace(recursively_apply_fns=lambda _: None, partitions=[])
        module.runner = runner  # type: ignore[attr-defined]
        return module

    compile_fx.cudagraphify = lambda model, *_, **__: model
    VecISA.check_build = lambda *_: True
    _InProcessFxCompile.codegen_and_compile = compile_and_keep
    PyCodeCache.load_by_key_path = load_others


def prepare(cache: str) -> None:
    """Get this process ready to compile each graph anew, or to fork children that do.

    Kernels are kept in the folder ``cache``, if one is named.
    """
    compile_each_graph_anew()
    if cache:
        keep_kernels_in(cache)
    import_inductor()


def import_inductor() -> None:
    """Import what compiling a graph with TorchInductor needs, which takes seconds. A fork may follow.

    ``init_backend_registration`` (``torch/_inductor/codegen/common.py``) imports all that write code. A pool
    of compilers would not survive a fork, so there is none (``compile_threads``,
    ``torch/_inductor/config.py``). 2.11 to 2.15.
    """
    with _gpu_unopened():
        import torch._inductor.compile_fx
        import torch._inductor.config
        import torch._inductor.fx_passes.joint_graph
        import torch._inductor.fx_passes.post_grad
        import torch._inductor.graph
        import torch._inductor.lowering
        import torch._inductor.scheduler
        from torch._inductor.codegen.common import init_backend_registration
        from torch.utils._sympy.symbol import SymT, make_symbol

        init_backend_registration()
        make_symbol(SymT.INDEX, 0) + make_symbol(SymT.INDEX, 1)  # for which sympy imports a lot
    _set_in_all_threads(torch._inductor.config, "compile_threads", value=1)


def compile_in_parallel() -> None:
    """Let TorchInductor compile with as many threads and processes as it does without us. No fork may follow.

    ``decide_compile_threads`` (``torch/_inductor/config.py``): 2.11 to 2.15.
    """
    import torch._inductor.config

    threads = torch._inductor.config.decide_compile_threads()
    _set_in_all_threads(torch._inductor.config, "compile_threads", value=threads)


@functools.cache
def warm_up_cpp() -> None:
    """Have done what else each process that compiles C++ does once. A fork may follow.

    ``valid_vec_isa_list`` (``torch/_inductor/cpu_vec_isa.py``) compiles and loads a library for each kind of
    vector instructions, one after the other, which takes half a minute with 2.11. The header of all kernels
    is compiled once, and looked at again by each process (``_precompile_header``,
    ``torch/_inductor/codecache.py``). 2.11 to 2.15.
    """
    with _gpu_unopened():
        from torch._inductor import cpu_vec_isa
        from torch._inductor.async_compile import AsyncCompile

        flags = cpu_vec_isa.x86_isa_checker()
        known = (isa for isa in cpu_vec_isa.supported_vec_isa_list if {*str(isa).split()} <= {*flags})
        with ThreadPoolExecutor() as pool:  # all that they do is to wait for the C++ compiler
            list(pool.map(bool, known))
        cpu_vec_isa.valid_vec_isa_list()
        try:
            AsyncCompile().cpp_pybinding(["const float*"], _EMPTY_KERNEL)
        except Exception:
            _log.info("C++ does not compile here", exc_info=True)


_EMPTY_KERNEL = """\
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C" void kernel(const float* x) {}
"""


def warm_up_patterns() -> None:
    """Have the patterns traced that TorchInductor looks for in graphs. Not beside a GPU, which it opens.

    ``lazy_init`` (``torch/_inductor/fx_passes/joint_graph.py``, ``post_grad.py``): 2.11 to 2.15.
    """
    from torch._inductor.decomposition import fast_random_decomps
    from torch._inductor.fx_passes import joint_graph, post_grad
    from torch.hub import tqdm

    # Each trace makes a progress bar, and the first of them a thread, which would not survive a fork.
    tqdm.monitor_interval = 0
    joint_graph.lazy_init(torch.device("cpu"))  # done once for each device
    post_grad.lazy_init()
    fast_random_decomps.cache_clear()  # a program may change the decompositions


@contextmanager
def _gpu_unopened() -> Iterator[None]:
    """Whoever asks whether there is a GPU does not open it: a child could not open it again.

    ``torch/_inductor/runtime/benchmarking.py`` asks when it is imported, and so does whatever compiles C++
    (2.11 to 2.15); NVML answers without CUDA
    (https://docs.pytorch.org/docs/stable/notes/cuda.html#environment-variables).
    """
    name = "PYTORCH_NVML_BASED_CUDA_CHECK"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def bisect(passes: Callable[[], bool]) -> str:
    """Which part of TorchInductor makes ``passes()`` false: ``lowerings, 2: aten.relu.default``, or nothing.

    ``CompilerBisector.do_bisect`` (``torch/_inductor/compiler_bisector.py``), which makes each
    ``torch.compile`` use the backend and the parts that it asks about: 2.11 to 2.15.
    """
    from torch._inductor.compiler_bisector import CompilerBisector

    found = CompilerBisector.do_bisect(passes)
    if found is None or found.backend != "inductor" or not found.subsystem:
        return ""
    number = f", {found.bisect_number}" if found.bisect_number else ""
    info = found.debug_info if found.debug_info != found.subsystem else ""
    return f"{found.subsystem}{number}{f': {info}' if info else ''}"
