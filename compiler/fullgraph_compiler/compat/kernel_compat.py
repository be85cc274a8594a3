"""Private names of TorchInductor about its kernels and its generated code.

:mod:`.inductor_compat` has the names that control compilation. Each docstring names the file in torch, and
the supported versions (2.11 to 2.15) in which it was checked.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import BuiltinFunctionType, ModuleType
from typing import Any

import torch

from ..facts import Cost, KernelCompiled
from ..trace.interpreter import CUDAGRAPH_SKIP, PERFORMANCE_HINT

_log = logging.getLogger(__name__)


def nodes_of_launches() -> dict[str, list[str]]:
    """Return the lowered nodes that each launch computes, by the launch's handle.

    Call this function while code is being generated: ``_inductor_triton_kernel_to_post_grad_node_info``
    (``torch/_inductor/debug.py``), 2.11 to 2.15. torch's own trace record is empty for a backward graph.
    """
    from torch._inductor import debug

    return dict(debug._inductor_triton_kernel_to_post_grad_node_info)


@dataclass(frozen=True)
class LaunchNotes:
    """Data about launches that TorchInductor does not report itself.

    The launches are those in the last generated code. ``costs`` has the cost of each launch by its handle,
    ``stacks`` the stack of each node of the lowered graph, as text, by the node's name.
    """

    costs: dict[str, Cost] = field(default_factory=dict)
    stacks: dict[str, str] = field(default_factory=dict)


_notes = LaunchNotes()


def take_launch_notes() -> LaunchNotes:
    """Return the notes of :func:`note_launches` since the last call, and clear them."""
    global _notes
    notes, _notes = _notes, LaunchNotes()
    return notes


def note_launches() -> None:
    """Record cost and stacks of each launch when TorchInductor records its provenance.

    ``set_kernel_post_grad_provenance_tracing`` (``torch/_inductor/debug.py``, imported by
    ``codegen/triton.py`` and ``codegen/cpp.py``) is called with the nodes of the kernel.
    ``get_read_buffer_sizes``, ``get_write_buffer_sizes`` and ``estimate_flops`` are methods of
    ``BaseSchedulerNode`` (``scheduler.py``), ``origins`` is an attribute of ``IRNode`` (``ir.py``): 2.11 to
    2.15.
    """
    from torch._inductor import debug
    from torch._inductor.codegen import cpp, triton

    set_provenance = debug.set_kernel_post_grad_provenance_tracing

    def set_and_note(computed: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        handle = set_provenance(computed, name, *args, **kwargs)
        try:
            parts = computed if isinstance(computed, (list, tuple)) else [computed]
            for part in parts:
                origins = getattr(getattr(part, "node", part), "origins", ())
                _notes.stacks.update((node.name, str(node.meta.get("stack_trace") or "")) for node in origins)
            _notes.costs[f"{name}:{handle}"] = _cost(_scheduled(parts))
        except Exception:
            _log.info("the cost of %s is unknown", name, exc_info=True)
        return handle

    for module in (debug, cpp, triton):
        module.set_kernel_post_grad_provenance_tracing = set_and_note


def _scheduled(parts: Sequence[Any]) -> list[Any]:
    """Return the scheduler's nodes for the parts of a kernel or library call."""
    from torch._inductor.virtualized import V

    fused = V.graph.scheduler.name_to_fused_node
    # Markers of loops between the nodes of a reduction have no name.
    names = [name() for part in parts if (name := getattr(part, "get_name", None))]
    return list({id(node): node for name in names if (node := fused.get(_operation(name)))}.values())


def _operation(name: str) -> str:
    """Return the scheduler's name for the operation that defines a buffer."""
    from torch._inductor.virtualized import V

    buffer = V.graph.scheduler.name_to_buf.get(name)
    return str(buffer.defining_op_name()) if buffer else name


def _cost(nodes: Sequence[Any]) -> Cost:
    flops = [node.estimate_flops() for node in nodes if node.is_extern() or node.is_template()]
    cost = Cost(
        read=sum(int(node.get_read_buffer_sizes()) for node in nodes),
        written=sum(int(node.get_write_buffer_sizes()) for node in nodes),
        flops=sum(map(int, filter(None, flops))) or None,
    )
    return replace(cost, seconds=_least_seconds(cost, nodes[0])) if nodes else cost


def _least_seconds(cost: Cost, node: Any) -> float | None:
    """Return a lower bound on the time of a launch, in seconds; ``None`` on a CPU.

    The bound comes from memory traffic and, if torch has a data sheet of the GPU, from arithmetic.
    ``datasheet_tops`` (``torch/_inductor/analysis/device_info.py``) (torch 2.11 to 2.15). torch's own
    ``get_estimated_runtime`` is wrong by a factor of a thousand for a GPU without a data sheet (H200, 2.11).
    """
    from torch._inductor.analysis.device_info import datasheet_tops

    device = node.get_device()
    if device is None or device.type != "cuda":
        return None
    seconds = (cost.read + cost.written) / gpu_bandwidth()
    dtype = node.get_nodes()[0].node.maybe_get_dtype()
    tops = datasheet_tops(dtype) if cost.flops and dtype is not None else None
    return max(seconds, cost.flops / (float(tops) * 1e12)) if cost.flops and tops else seconds


def gpu_bandwidth() -> float:
    """Return the bandwidth of the GPU's memory in bytes per second.

    ``get_gpu_dram_gbps`` (``torch/_inductor/utils.py``) (torch 2.11 to 2.15).
    """
    from torch._inductor.utils import get_gpu_dram_gbps

    return float(get_gpu_dram_gbps()) * 1e9


def gpu_flops() -> float:
    """Return the GPU's peak float32 operations per second; 0 without a data sheet.

    ``datasheet_tops`` (``torch/_inductor/analysis/device_info.py``) (torch 2.11 to 2.15).
    """
    from torch._inductor.analysis.device_info import datasheet_tops

    return float(datasheet_tops(torch.float32) or 0.0) * 1e12


def vector_instructions() -> str:
    """Return the vector instructions that TorchInductor's C++ uses; empty if none.

    An example is ``avx512``. ``pick_vec_isa`` (``torch/_inductor/cpu_vec_isa.py``) (torch 2.11 to 2.15).
    """
    from torch._inductor.cpu_vec_isa import invalid_vec_isa, pick_vec_isa

    isa = pick_vec_isa()
    return "" if isa == invalid_vec_isa else str(isa)


def trace_fusion() -> None:
    """Record TorchInductor's intermediate representation in the structured trace.

    torch itself only writes the representation to a folder. ``log_ir_pre_fusion``, ``log_ir_post_fusion`` and
    ``DebugFormatter`` (``torch/_inductor/debug.py``) (torch 2.11 to 2.15).
    """
    from torch._inductor import debug

    for name in ("ir_pre_fusion", "ir_post_fusion"):
        setattr(debug, f"log_{name}", _traced(name, getattr(debug, f"log_{name}")))


def trace_hints() -> None:
    """Record torch's logs ``perf_hints`` and ``cudagraphs`` in the structured trace.

    The logs are registered in ``torch/_logging/_registrations.py``; the function that logs skipped CUDA
    graphs is in ``torch/_inductor/cudagraph_utils.py`` (torch 2.11 to 2.15).
    """
    from torch._logging._internal import log_registry

    # The log of CUDA graphs also has messages of other functions.
    of_skips = "log_cudagraph_skip_and_bump_counter"
    for log, record, function in (
        ("perf_hints", PERFORMANCE_HINT, ""),
        ("cudagraphs", CUDAGRAPH_SKIP, of_skips),
    ):
        for logger in map(logging.getLogger, log_registry.get_artifact_log_qnames()):
            # On a CPU, ``compile_fx`` logs a hint for each unpadded graph, but padding helps only on GPUs.
            if logger.name.endswith(f".__{log}") and logger.name != "torch._inductor.compile_fx.__perf_hints":
                if not logger.isEnabledFor(logging.INFO) and not logger.propagate:
                    logger.setLevel(logging.INFO)  # no other handler is active
                logger.addHandler(_TraceHandler(record, function))


class _TraceHandler(logging.Handler):
    """A handler that records messages of a log in the structured trace.

    Unless ``function`` is empty, only messages logged by that function are recorded.
    """

    def __init__(self, record: str, function: str) -> None:
        super().__init__(logging.INFO)
        self._record = record
        self._function = function

    def emit(self, record: logging.LogRecord) -> None:
        if self._function in ("", record.funcName):
            _trace(self._record, record.getMessage)


def _traced(name: str, log: Callable[[Any], None]) -> Callable[[Any], None]:
    from torch._inductor.debug import DebugFormatter

    def log_and_trace(nodes: Any) -> None:
        _trace(name, lambda: DebugFormatter._write_ir(nodes))
        log(nodes)

    return log_and_trace


def _trace(name: str, text: Callable[[], str]) -> None:
    """Add a record with a name and a text to the structured trace.

    ``trace_structured`` (``torch/_logging/_internal.py``) (torch 2.11 to 2.15).
    """
    from torch._logging import trace_structured

    trace_structured("artifact", metadata_fn=lambda: {"name": name, "encoding": "string"}, payload_fn=text)


def lowered_node() -> torch.fx.Node | None:
    """Return the graph node that TorchInductor is currently lowering, if any.

    ``V.graph`` (``torch/_inductor/virtualized.py``) and its ``current_node`` (``graph.py``): 2.11 to 2.15.
    """
    from torch._inductor.virtualized import V

    node = getattr(V.graph, "current_node", None)
    return node if isinstance(node, torch.fx.Node) else None


def keep_loaded() -> list[ModuleType]:
    """Return a list to which each module of generated code is appended when loaded.

    ``PyCodeCache.load_by_key_path`` (``torch/_inductor/codecache.py``) gets ``attrs`` only for the code of a
    graph. ``PyCodeCache.modules`` is unsuitable: it also has other code, and a program may clear it. 2.11 to
    2.15.
    """
    from torch._inductor.codecache import PyCodeCache

    load = PyCodeCache.load_by_key_path
    loaded: list[ModuleType] = []

    def load_and_keep(
        key: str, path: str, linemap: Any = None, attrs: dict[str, Any] | None = None, **kwargs: Any
    ) -> Any:
        module = load(key, path, linemap, attrs, **kwargs)
        if attrs is not None:
            loaded.append(module)
        return module

    PyCodeCache.load_by_key_path = load_and_keep
    return loaded


def cpp_library(value: Any) -> str | None:
    """Return the file from which a C++ kernel of generated code was loaded.

    Return ``None`` for any other value. Such a kernel is the entry function of an extension module
    (``CppPythonBindingsCodeCache.load_pybinding_async`` in ``torch/_inductor/codecache.py``): 2.11 to 2.15.
    """
    from torch._inductor.codecache import CppPythonBindingsCodeCache

    if isinstance(value, BuiltinFunctionType) and value.__name__ == CppPythonBindingsCodeCache.entry_function:
        return getattr(value.__self__, "__file__", None)
    return None


def triton_binary(value: Any) -> tuple[str, KernelCompiled] | None:
    """Return a Triton kernel's folder of compiled forms, and its settings and usage.

    Return ``None`` for any other value, and for a kernel that has not run yet.

    ``CachingAutotuner`` (``torch/_inductor/runtime/triton_heuristics.py``) has a launcher for each setting,
    and only the fastest launcher after the kernel ran. A launcher has the name of its folder in Triton's
    cache, which contains the compiled forms; the kernel object of a static launcher does not have them.
    ``triton_cache_dir`` (``cache_dir_utils.py``) ignores the device if ``TRITON_CACHE_DIR`` is set. 2.11 to
    2.15.
    """
    from torch._inductor.runtime.cache_dir_utils import triton_cache_dir
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    if not isinstance(value, CachingAutotuner) or len(value.launchers) != 1:
        return None
    (launcher,) = value.launchers
    settings = _settings(launcher.config)
    compiled = KernelCompiled("", "", (), settings, launcher.n_regs, launcher.n_spills, launcher.shared)
    return os.path.join(triton_cache_dir(0), launcher.cache_hash), compiled


def build_kernel(source: str) -> tuple[KernelCompiled, dict[str, str], bytes]:
    """Compile a Triton kernel with its first setting, without loading it.

    ``source`` is the kernel in TorchInductor's code. Return the kernel, the texts that Triton stores, by
    their form (``ttir``, ...), and the machine code. Triton's errors are raised unchanged.

    ``PyCodeCache.load`` (``torch/_inductor/codecache.py``), ``CachingAutotuner.configs`` and
    ``_precompile_config`` (``runtime/triton_heuristics.py``), ``_set_triton_ptxas_path``
    (``runtime/compile_tasks.py``), which prefers the assembler that torch contains: 2.11 to 2.15. Triton
    identifies a kernel by its text and its row, so an empty row comes first, as in TorchInductor's code.
    """
    from torch._inductor.codecache import PyCodeCache
    from torch._inductor.runtime.compile_tasks import _set_triton_ptxas_path
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    _set_triton_ptxas_path()
    values = vars(PyCodeCache.load(f"\n{source}\n")).values()
    tuner = next(value for value in values if isinstance(value, CachingAutotuner))
    kernel = tuner._precompile_config(tuner.configs[0]).kernel
    texts = {form: text for form, text in kernel.asm.items() if isinstance(text, str)}
    chosen, *rest = map(_settings, tuner.configs)
    built = KernelCompiled("", "", (), chosen, shared=kernel.metadata.shared, others=tuple(rest))
    return built, texts, kernel.asm.get("cubin", b"")


def _settings(config: Any) -> str:
    settings = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
    return ", ".join(f"{name}: {value}" for name, value in settings.items())


def cuobjdump() -> str:
    """Return the path of NVIDIA's ``cuobjdump``, which Triton includes.

    ``cuobjdump`` inspects machine code. ``triton.knobs.nvidia``: Triton 3.6 to 3.9.
    """
    from triton import knobs

    return str(knobs.nvidia.cuobjdump.path)
