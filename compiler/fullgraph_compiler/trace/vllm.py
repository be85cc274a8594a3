"""The records of vLLM: how it splits a graph, and the sizes for which it compiles.

The records are emitted by ``vllm/compilation/backends.py`` (``VllmBackend.__call__``) and
``piecewise_backend.py`` (``_log_compile_start``) since https://github.com/vllm-project/vllm/pull/33213. No
record says for which sizes CUDA graphs are captured: ``is_cudagraph_capture_size`` says only that a range
begins at one of ``compile_sizes``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from ..facts import VllmConfigured, VllmPartCompiled, VllmSplit
from .decoding import read_object
from .record import TraceRecord

GRAPH: Final = "graph_dump"
_CONFIGURED: Final = "vllm_compilation_config"
_COMPILED: Final = "vllm_piecewise_compile_start"
_SPLIT: Final = "vllm_piecewise_split_graph"
VLLM_RECORDS: Final = frozenset((_CONFIGURED, _COMPILED, GRAPH))
"""The names of vLLM's records. torch also emits records named ``graph_dump``."""
_SUBMODULE: Final = re.compile(r"\bself\.(submod_\d+)\(")

VllmFact: TypeAlias = VllmConfigured | VllmSplit | VllmPartCompiled


def is_of_vllm(record: TraceRecord) -> bool:
    """Return whether a record is vLLM's; a ``graph_dump`` may also come from torch."""
    if record.name != GRAPH:
        return record.name in VLLM_RECORDS
    return isinstance(record.body, Mapping) and record.body.get("name") == _SPLIT


def read_vllm(record: TraceRecord) -> Iterator[VllmFact]:
    """Yield the fact that a record of vLLM contains."""
    compile_id = record.compile_id
    if record.name == GRAPH:
        yield VllmSplit(compile_id, tuple(dict.fromkeys(_SUBMODULE.findall(record.payload))))
        return
    values = read_object(record.payload)
    if record.name == _CONFIGURED:
        model, prefix = (str(values.get(name) or "") for name in ("model", "prefix"))
        splitting = tuple(filter(None, str(values["splitting_ops"]).split(", ")))
        cudagraphs = str(values["cudagraph_mode"]).rpartition(".")[2]
        yield VllmConfigured(compile_id, model, prefix, splitting, cudagraphs)
    else:
        first, last = int(values["compile_range_start"]), int(values["compile_range_end"])
        yield VllmPartCompiled(compile_id, str(values["submod_name"]), first, last)
