"""Record the tensors bound to names in traced code.

These are Dynamo's fake tensors, so their sizes are symbolic wherever the graph's sizes are symbolic. The
notes are attached to the graph, so that they disappear with the graph if Dynamo abandons an attempt to trace
a frame.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter
from types import CodeType
from typing import Any, TypeAlias

import torch

from ..compat import names_compat, torch_compat
from ..facts import NamedTensor, StackFrame, Symbol
from ..trace.stacks import original_function
from .tensors import short_name

_NOTES = "_fullgraph_names"
"""The attribute with the notes, on the graph that Dynamo is tracing."""
_TORCH = torch_compat.folder() + os.sep

_TensorInfo: TypeAlias = tuple[Any, Any, Any, Any]
"""The sizes, strides, dtype and device of a tensor."""


def note_names() -> None:
    """Start to record the tensors bound to names."""
    names_compat.watch_names(_note)


def take_names(graph: Any) -> tuple[tuple[NamedTensor, ...], tuple[Symbol, ...]]:
    """Return the tensors recorded for a graph, and the symbols in their sizes.

    Both are without duplicates. The notes are removed from the graph.
    """
    symbols: dict[tuple[str, str, int | None], None] = {}
    tensors: dict[NamedTensor, None] = {}
    for code, name, place, value in vars(graph).pop(_NOTES, ()):
        # A lazy variable may have become a tensor since it was bound to the name.
        tensor = value if isinstance(value, tuple) else _tensor_info(value)
        tensors[_named(code, name, place, tensor)] = None
        if tensor is not None:
            symbols.update((symbol, None) for size in tensor[0] for symbol in names_compat.symbols_of(size))
    return tuple(tensors), tuple(Symbol(*symbol) for symbol in sorted(symbols, key=itemgetter(0)))


def _note(graph: Any, code: CodeType, name: str, place: Any, variable: Any) -> None:
    if not _is_foreign(code.co_filename):
        # Read sizes at once, since an in-place operation can change them.
        value = _tensor_info(variable) or variable
        vars(graph).setdefault(_NOTES, []).append((code, name, place, value))


@lru_cache(maxsize=4096)
def _is_foreign(filename: str) -> bool:
    """Return whether a file belongs to torch or is generated, so is not the user's."""
    return filename.startswith((_TORCH, "<"))


def _tensor_info(variable: Any) -> _TensorInfo | None:
    tensor = names_compat.tensor_behind(variable)
    if tensor is None:
        return None
    try:
        strides = tensor.stride() if tensor.layout is torch.strided else ()
        return tensor.size(), strides, tensor.dtype, tensor.device
    except Exception:  # a class of tensors may have no sizes; the program must not see that
        return None


def _named(code: CodeType, name: str, place: Any, info: _TensorInfo | None) -> NamedTensor:
    row, column = place or (code.co_firstlineno, None)
    frame = StackFrame(code.co_filename, row, original_function(code.co_name), column)
    if info is None:
        return NamedTensor(name, "", "", "", frame, parameter=place is None)
    sizes, strides, dtype, device = info
    tensor = f"{short_name(dtype)}[{_joined(sizes)}]"
    return NamedTensor(name, tensor, _joined(strides), str(device), frame, parameter=place is None)


def _joined(sizes: Iterable[Any]) -> str:
    return ", ".join(map(str, sizes))
