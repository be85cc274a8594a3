"""The private names of TorchInductor in which it keeps what it knows of kernels, and of its code.

:mod:`.inductor_compat` has those that make it compile. Each entry says where torch keeps it and in which of
the supported versions (2.11 to 2.15) it was read.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import BuiltinFunctionType, ModuleType
from typing import Any

import torch

from ..facts import Cost
from ..trace.interpreter import CUDAGRAPH_SKIP, PERFORMANCE_HINT

_log = logging.getLogger(__name__)


def nodes_of_launches() -> dict[str, list[str]]:
    """The nodes of the lowered graph that each launch of the code being written computes, by its handle.

    ``_inductor_triton_kernel_to_post_grad_node_info`` (``torch/_inductor/debug.py``): 2.11 to 2.15. The
    record of it is empty for a backward graph.
    """
    from torch._inductor import debug

    return dict(debug._inductor_triton_kernel_to_post_grad_node_info)


@dataclass(frozen=True)
class LaunchNotes:
    """What TorchInductor knows of the launches in the code that it wrote last, beside what it tells.

    Costs are by the handle of a launch; ``stacks`` are texts, by the node of the lowered graph.
    """

    costs: dict[str, Cost] = field(default_factory=dict)
    stacks: dict[str, str] = field(default_factory=dict)


_told = LaunchNotes()


def take_launch_notes() -> LaunchNotes:
    """What was noted since this was last called (:func:`note_launches`)."""
    global _told
    told, _told = _told, LaunchNotes()
    return told


def note_launches() -> None:
    """Note what TorchInductor knows of each launch, at the moment when it tells what is behind it.

    ``set_kernel_post_grad_provenance_tracing`` (``torch/_inductor/debug.py``; ``codegen/triton.py`` and
    ``codegen/cpp.py`` import its name) is called with what the kernel computes. ``get_read_buffer_sizes``,
    ``get_write_buffer_sizes`` and ``estimate_flops`` are those of
    ``BaseSchedulerNode`` (``scheduler.py``), ``origins`` that of ``IRNode`` (``ir.py``): 2.11 to 2.15.
    """
    from torch._inductor import debug
    from torch._inductor.codegen import cpp, triton

    tell = debug.set_kernel_post_grad_provenance_tracing

    def tell_and_note(computed: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        handle = tell(computed, name, *args, **kwargs)
        try:
            parts = computed if isinstance(computed, (list, tuple)) else [computed]
            for part in parts:
                origins = getattr(getattr(part, "node", part), "origins", ())
                _told.stacks.update((node.name, str(node.meta.get("stack_trace") or "")) for node in origins)
            _told.costs[f"{name}:{handle}"] = _cost(_scheduled(parts))
        except Exception:
            _log.info("no cost is known of %s", name, exc_info=True)
        return handle

    for module in (debug, cpp, triton):
        module.set_kernel_post_grad_provenance_tracing = tell_and_note


def _scheduled(parts: Sequence[Any]) -> list[Any]:
    """The scheduler's nodes for what a kernel computes: its nodes, or a call of a library function."""
    from torch._inductor.virtualized import V

    fused = V.graph.scheduler.name_to_fused_node
    # Between the nodes of a reduction are markers of its loops, which have no name.
    names = [name() for part in parts if (name := getattr(part, "get_name", None))]
    return list({id(node): node for name in names if (node := fused.get(_operation(name)))}.values())


def _operation(name: str) -> str:
    """The scheduler's name for the operation that makes a buffer."""
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
    """The time that a launch needs at least: for memory, and for arithmetic if a data sheet is known.

    ``get_gpu_dram_gbps`` (``torch/_inductor/utils.py``) and ``datasheet_tops``
    (``torch/_inductor/analysis/device_info.py``): 2.11 to 2.15. ``get_estimated_runtime`` takes, for a GPU
    without data sheet, an arithmetic that is off by a thousand (H200, 2.11).
    """
    from torch._inductor.analysis.device_info import datasheet_tops
    from torch._inductor.utils import get_gpu_dram_gbps

    device = node.get_device()
    if device is None or device.type != "cuda":
        return None
    seconds = (cost.read + cost.written) / (float(get_gpu_dram_gbps()) * 1e9)
    dtype = node.get_nodes()[0].node.maybe_get_dtype()
    tops = datasheet_tops(dtype) if cost.flops and dtype is not None else None
    return max(seconds, cost.flops / (float(tops) * 1e12)) if cost.flops and tops else seconds


def trace_fusion() -> None:
    """Put the intermediate representation, which torch writes to a folder only, into the structured trace.

    ``log_ir_pre_fusion``, ``log_ir_post_fusion`` and ``DebugFormatter`` (``torch/_inductor/debug.py``): 2.11
    to 2.15.
    """
    from torch._inductor import debug

    for name in ("ir_pre_fusion", "ir_post_fusion"):
        setattr(debug, f"log_{name}", _traced(name, getattr(debug, f"log_{name}")))


def trace_hints() -> None:
    """Put the logs ``perf_hints``, which this switches on, and ``cudagraphs`` into the structured trace.

    They are in ``torch/_logging/_registrations.py``, the function that tells of skipped CUDA graphs in
    ``torch/_inductor/cudagraph_utils.py``: 2.11 to 2.15.
    """
    from torch._logging._internal import log_registry

    # Of CUDA graphs the log tells other things, too.
    of_skips = "log_cudagraph_skip_and_bump_counter"
    for log, record, function in (
        ("perf_hints", PERFORMANCE_HINT, ""),
        ("cudagraphs", CUDAGRAPH_SKIP, of_skips),
    ):
        for logger in map(logging.getLogger, log_registry.get_artifact_log_qnames()):
            # On a CPU, `compile_fx` hints at each graph that it does not pad tensors, which only GPUs like.
            if logger.name.endswith(f".__{log}") and logger.name != "torch._inductor.compile_fx.__perf_hints":
                if not logger.isEnabledFor(logging.INFO) and not logger.propagate:
                    logger.setLevel(logging.INFO)  # nobody else listens
                logger.addHandler(_ToTrace(record, function))


class _ToTrace(logging.Handler):
    """Puts the lines of a log into the structured trace: those that one function writes, if it is named."""

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
    """``trace_structured`` (``torch/_logging/_internal.py``): 2.11 to 2.15."""
    from torch._logging import trace_structured

    trace_structured("artifact", metadata_fn=lambda: {"name": name, "encoding": "string"}, payload_fn=text)


def lowered_node() -> torch.fx.Node | None:
    """The node of a graph that is being lowered now.

    ``V.graph`` (``torch/_inductor/virtualized.py``) and its ``current_node`` (``graph.py``): 2.11 to 2.15.
    """
    from torch._inductor.virtualized import V

    node = getattr(V.graph, "current_node", None)
    return node if isinstance(node, torch.fx.Node) else None


def keep_loaded() -> list[ModuleType]:
    """The code of graphs that this process loads, from now on: modules, whose ``__file__`` it is in.

    ``PyCodeCache.load_by_key_path`` (``torch/_inductor/codecache.py``) gets attributes for the code of a
    graph only. ``PyCodeCache.modules`` has other code too, and a program may clear it. 2.11 to 2.15.
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
    """The file that a C++ kernel of generated code is loaded from; nothing for any other value.

    Such a kernel is the entry of an extension module (``CppPythonBindingsCodeCache.load_pybinding_async`` in
    ``torch/_inductor/codecache.py``): 2.11 to 2.15.
    """
    from torch._inductor.codecache import CppPythonBindingsCodeCache

    if isinstance(value, BuiltinFunctionType) and value.__name__ == CppPythonBindingsCodeCache.entry_function:
        return getattr(value.__self__, "__file__", None)
    return None


@dataclass(frozen=True, slots=True)
class TritonBinary:
    """A Triton kernel as it was compiled: the folder of its files, its settings, and what it uses.

    Settings are ``XBLOCK: 256, num_warps: 4``.
    """

    folder: str
    settings: str
    registers: int | None
    spills: int | None
    shared: int | None


def triton_binary(value: Any) -> TritonBinary | None:
    """What became of a Triton kernel of generated code; nothing for any other value, or before it ran.

    ``CachingAutotuner`` (``torch/_inductor/runtime/triton_heuristics.py``) has a launcher for each setting,
    and only the best of them once it has run. A launcher has the name of its folder in Triton's cache, where
    it leaves the compiled forms, which the kernel of a static launcher does not keep. ``triton_cache_dir``
    (``cache_dir_utils.py``) ignores the device where ``TRITON_CACHE_DIR`` is set. 2.11 to 2.15.
    """
    from torch._inductor.runtime.cache_dir_utils import triton_cache_dir
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    if not isinstance(value, CachingAutotuner) or len(value.launchers) != 1:
        return None
    (launcher,) = value.launchers
    return TritonBinary(
        os.path.join(triton_cache_dir(0), launcher.cache_hash),
        _settings(launcher.config),
        launcher.n_regs,
        launcher.n_spills,
        launcher.shared,
    )


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """A Triton kernel that was compiled and not loaded.

    ``texts`` are the forms that Triton keeps, by their names (``ttir``, ...); ``others`` the settings that a
    device would have been asked to choose among, too.
    """

    texts: dict[str, str]
    machine_code: bytes
    settings: str
    others: tuple[str, ...]
    shared: int | None


def build_kernel(source: str) -> BuiltKernel:
    """Compile a Triton kernel of TorchInductor's code, with the first of its settings.

    ``PyCodeCache.load`` (``torch/_inductor/codecache.py``), ``CachingAutotuner.configs`` and
    ``_precompile_config`` (``runtime/triton_heuristics.py``), ``_set_triton_ptxas_path``
    (``runtime/compile_tasks.py``), which prefers the assembler that torch brings: 2.11 to 2.15. Triton knows
    a kernel by its text and its row, so an empty one is put first, where TorchInductor has one. Raises what
    Triton raises.
    """
    from torch._inductor.codecache import PyCodeCache
    from torch._inductor.runtime.compile_tasks import _set_triton_ptxas_path
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    _set_triton_ptxas_path()
    values = vars(PyCodeCache.load(f"\n{source}\n")).values()
    tuner = next(value for value in values if isinstance(value, CachingAutotuner))
    kernel = tuner._precompile_config(tuner.configs[0]).kernel
    texts = {form: text for form, text in kernel.asm.items() if isinstance(text, str)}
    machine_code = kernel.asm.get("cubin", b"")
    chosen, *rest = map(_settings, tuner.configs)
    return BuiltKernel(texts, machine_code, chosen, tuple(rest), kernel.metadata.shared)


def _settings(config: Any) -> str:
    settings = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
    return ", ".join(f"{name}: {value}" for name, value in settings.items())


def cuobjdump() -> str:
    """The path of NVIDIA's tool that looks into machine code, which Triton brings.

    ``triton.knobs.nvidia``: Triton 3.6 to 3.9.
    """
    from triton import knobs

    return str(knobs.nvidia.cuobjdump.path)
