"""Private names of TorchInductor that control compilation.

Each docstring names the file in torch, and the supported versions (2.11 to 2.15) in which it was checked.
"""

from __future__ import annotations

import copy
import functools
import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

_log = logging.getLogger(__name__)
_as_set: dict[str, Any] = {}
"""The program's settings of TorchInductor's graph caches, saved before the caches are turned off."""

IMPORTS = "import torch._inductor.compile_fx"
"""The import that torch executes at the first compilation with TorchInductor: 2.11 to 2.15."""


def triton_kernel(index: int, constants: int) -> tuple[str, dict[str, Any]]:
    """Return the name of a user's Triton kernel, and its constant arguments.

    ``kernel_side_table`` (``torch/_higher_order_ops/triton_kernel_wrap.py``) (torch 2.11 to 2.15).
    """
    from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table

    kernel = kernel_side_table.get_kernel(index)
    while hasattr(kernel, "fn") and not hasattr(kernel, "__name__"):
        kernel = kernel.fn  # an autotuner, or heuristics
    return str(kernel.__name__), dict(kernel_side_table.get_constant_args(constants))


def stop_after_lowering() -> None:
    """Let TorchInductor raise ``PastLoweringError`` after it has lowered a graph.

    ``GraphLowering.compile_to_module`` and ``codegen`` (``torch/_inductor/graph.py``) (torch 2.11 to 2.15).
    """
    from torch._inductor.graph import GraphLowering

    def stop(*_: Any, **__: Any) -> Any:
        raise PastLoweringError

    GraphLowering.compile_to_module = GraphLowering.codegen = GraphLowering.codegen_with_cpp_wrapper = stop


class PastLoweringError(Exception):
    """Raised to end a compilation after lowering."""


def compile_with_inductor(
    graph: torch.fx.GraphModule,
    inputs: Sequence[Any],
    inner: Callable[..., Any],
) -> Callable[..., Any]:
    """Compile one of Dynamo's graphs with TorchInductor.

    ``inner`` compiles AOTAutograd's graphs. ``compile_fx`` (``torch/_inductor/compile_fx.py``): 2.11 to 2.15.
    """
    from torch._inductor.compile_fx import compile_fx

    compiled: Callable[..., Any] = compile_fx(graph, inputs, inner_compile=inner)
    return compiled


def compile_each_graph_anew() -> None:
    """Turn off TorchInductor's graph caches: a cached graph produces no facts.

    ``fx_graph_cache`` (``torch/_inductor/config.py``) and ``enable_autograd_cache``
    (``torch/_functorch/config.py``) (torch 2.11 to 2.15).
    """
    for config, name in _graph_caches():
        _as_set.setdefault(name, getattr(config, name))
        _set_in_all_threads(config, name, value=False)


def use_graph_caches() -> None:
    """Undo :func:`compile_each_graph_anew`: restore the program's cache settings."""
    for config, name in _graph_caches():
        _set_in_all_threads(config, name, value=_as_set.get(name, getattr(config, name)))


def _graph_caches() -> tuple[tuple[Any, str], ...]:
    import torch._functorch.config
    import torch._inductor.config

    return (
        (torch._inductor.config, "fx_graph_cache"),
        (torch._functorch.config, "enable_autograd_cache"),
    )


def keep_kernels_in(folder: str) -> None:
    """Let TorchInductor and Triton cache compiled kernels in a folder.

    If the name of the folder has spaces or quotes, do nothing: kernels stay in the folder of the run.
    """
    if _can_compile_in(folder):
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")


def keep_headers_in(folder: str) -> None:
    """Let TorchInductor, which is imported, keep its precompiled C++ headers in a folder, as its kernels.

    Otherwise they are in a folder of the system for temporary files, in which a run whose file changes are
    discarded cannot keep them. ``_HEADER_DIR`` (``torch/_inductor/codecache.py``) (torch 2.11 to 2.15).
    """
    from torch._inductor import codecache

    if _can_compile_in(folder):
        codecache._HEADER_DIR = os.path.join(folder, "inductor", "precompiled_headers")
        codecache._HEADER_LOCK_DIR = os.path.join(codecache._HEADER_DIR, "locks")


def _can_compile_in(folder: str) -> bool:
    """Tell whether C++ can be compiled in a folder.

    ``run_compile_cmd`` (``torch/_inductor/cpp_builder.py``) splits a command as a shell does (torch 2.11 to
    2.15).
    """
    try:
        return shlex.split(folder) == [folder]
    except ValueError:
        return False  # an unmatched quotation mark


def compute_as_uncompiled() -> None:
    """Let TorchInductor compute the same numbers as uncompiled code.

    Compiled code then draws the same random numbers, and rounds to half precision after the same operations.
    ``fallback_random`` and ``emulate_precision_casts`` (``torch/_inductor/config.py``) (torch 2.11 to 2.15).
    """
    import torch._inductor.config

    for name in ("fallback_random", "emulate_precision_casts"):
        _set_in_all_threads(torch._inductor.config, name, value=True)


def is_imported() -> bool:
    """Return whether this process has imported TorchInductor's compiler."""
    return "torch._inductor.compile_fx" in sys.modules


def track_provenance() -> None:
    """Let TorchInductor record the source lines of each kernel.

    ``trace.provenance_tracking_level`` (``torch/_inductor/config.py``) (torch 2.11 to 2.15).
    """
    import torch._inductor.config

    _set_in_all_threads(torch._inductor.config, "trace.provenance_tracking_level", value=1)


def _set_in_all_threads(config: Any, name: str, *, value: object) -> None:
    """Change the default of a setting; programs can still set another value.

    An ordinary assignment affects only one thread.

    ``ConfigModule._config`` and ``_ConfigEntry`` (``torch/utils/_config_module.py``) (torch 2.11 to 2.15).
    """
    entry = config._config[name]
    entry.default = value
    if isinstance(entry.env_value_default, type(value)):
        entry.env_value_default = value


def write_code_only() -> None:
    """Let TorchInductor generate code without loading it; the graph runs instead.

    Loading the code would compile its kernels. ``PyCodeCache.load_by_key_path``
    (``torch/_inductor/codecache.py``) gets ``attrs`` only for the code of a graph.
    ``_InProcessFxCompile.codegen_and_compile`` (``compile_fx.py``) has the graph before it is lowered.
    Because no kernel is built, the check of the C++ compiler for vector instructions is skipped
    (``VecISA.check_build``, ``cpu_vec_isa.py``). The graph that runs instead is not recorded as a CUDA graph
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
            inputs.clear()  # as the generated code does, to free memory early
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
    """Prepare this process and its forked children to compile without a graph cache.

    Kernels are cached in the folder ``cache``, unless ``cache`` is empty.
    """
    compile_each_graph_anew()
    if cache:
        keep_kernels_in(cache)
    import_inductor()


def import_inductor() -> None:
    """Import TorchInductor's compiler, which takes seconds.

    The process can fork afterwards. ``init_backend_registration`` (``torch/_inductor/codegen/common.py``)
    imports all code generators. The pool of compiler processes is turned off, because it would not survive a
    fork (``compile_threads``, ``torch/_inductor/config.py``). 2.11 to 2.15.
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
        make_symbol(SymT.INDEX, 0) + make_symbol(SymT.INDEX, 1)  # makes sympy import many modules
    _set_in_all_threads(torch._inductor.config, "compile_threads", value=1)


def compile_in_parallel() -> None:
    """Restore TorchInductor's default number of compiler threads and processes.

    The process must not fork afterwards. ``decide_compile_threads`` (``torch/_inductor/config.py``): 2.11 to
    2.15.
    """
    import torch._inductor.config

    threads = torch._inductor.config.decide_compile_threads()
    _set_in_all_threads(torch._inductor.config, "compile_threads", value=threads)


@functools.cache
def warm_up_cpp() -> None:
    """Do the work that each process otherwise does before its first C++ kernel.

    The process can fork afterwards. ``valid_vec_isa_list`` (``torch/_inductor/cpu_vec_isa.py``) compiles and
    loads a library for each kind of vector instructions, one after the other, which takes half a minute with
    2.11. The header of all kernels is compiled once, and each process checks the compiled header
    (``_precompile_header``, ``torch/_inductor/codecache.py``). 2.11 to 2.15.
    """
    with _gpu_unopened():
        from torch._inductor import cpu_vec_isa
        from torch._inductor.async_compile import AsyncCompile

        flags = cpu_vec_isa.x86_isa_checker()
        candidates = (isa for isa in cpu_vec_isa.supported_vec_isa_list if {*str(isa).split()} <= {*flags})
        with ThreadPoolExecutor() as pool:  # the threads only wait for the C++ compiler
            list(pool.map(bool, candidates))
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
    """Trace the patterns that TorchInductor searches for in graphs.

    This initializes a GPU if there is one. ``lazy_init`` (``torch/_inductor/fx_passes/joint_graph.py``,
    ``post_grad.py``) (torch 2.11 to 2.15).
    """
    from torch._inductor.decomposition import fast_random_decomps
    from torch._inductor.fx_passes import joint_graph, post_grad
    from torch.hub import tqdm

    # Each trace creates a progress bar, and the first of these a thread, which would not survive a fork.
    tqdm.monitor_interval = 0
    joint_graph.lazy_init(torch.device("cpu"))  # torch does this once for each device
    post_grad.lazy_init()
    fast_random_decomps.cache_clear()  # a program may change the decompositions


@contextmanager
def _gpu_unopened() -> Iterator[None]:
    """Within the context, prevent checks for a GPU from initializing the GPU.

    A forked child could not use an initialized GPU. ``torch/_inductor/runtime/benchmarking.py`` checks for a
    GPU when it is imported, and so does a C++ compilation (2.11 to 2.15); NVML answers such checks without
    CUDA (https://docs.pytorch.org/docs/stable/notes/cuda.html#environment-variables).
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
    """Return the part of TorchInductor that makes ``passes()`` return false.

    An example is ``lowerings, 2: aten.relu.default``. Return an empty string if no part does so.
    ``CompilerBisector.do_bisect`` (``torch/_inductor/compiler_bisector.py``) makes each ``torch.compile`` use
    the backend and the parts that it tests (torch 2.11 to 2.15).
    """
    from torch._inductor.compiler_bisector import CompilerBisector

    fault = CompilerBisector.do_bisect(passes)
    if fault is None or fault.backend != "inductor" or not fault.subsystem:
        return ""
    number = f", {fault.bisect_number}" if fault.bisect_number else ""
    info = fault.debug_info if fault.debug_info != fault.subsystem else ""
    return f"{fault.subsystem}{number}{f': {info}' if info else ''}"
