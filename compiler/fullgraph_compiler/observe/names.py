"""Which tensors the names of the traced code hold: noted as Dynamo gives them their values.

The tensors are those that Dynamo computes with, so their sizes are symbolic where the graph's are. An attempt
to trace a frame that is given up takes its notes with it.
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
"""Where the notes are, on the graph that is being traced."""
_TORCH = torch_compat.folder() + os.sep

_Known: TypeAlias = tuple[Any, Any, Any, Any]
"""Of a tensor: sizes, strides, dtype, device."""


def note_names() -> None:
    """Note from now on what names hold."""
    names_compat.watch_names(_note)


def take_names(graph: Any) -> tuple[tuple[NamedTensor, ...], tuple[Symbol, ...]]:
    """What was noted while a graph was traced, each thing once, and the symbols in it."""
    symbols: dict[tuple[str, str, int | None], None] = {}
    tensors: dict[NamedTensor, None] = {}
    for code, name, place, value in vars(graph).pop(_NOTES, ()):
        # What nobody had needed yet when it got its name may have become a tensor since.
        known = value if isinstance(value, tuple) else _known(value)
        tensors[_named(code, name, place, known)] = None
        if known is not None:
            symbols.update((symbol, None) for size in known[0] for symbol in names_compat.symbols_of(size))
    return tuple(tensors), tuple(Symbol(*symbol) for symbol in sorted(symbols, key=itemgetter(0)))


def _note(graph: Any, code: CodeType, name: str, place: Any, variable: Any) -> None:
    if not _is_foreign(code.co_filename):
        # At once, since an operation in place can change the tensor's sizes.
        value = _known(variable) or variable
        vars(graph).setdefault(_NOTES, []).append((code, name, place, value))


@lru_cache(maxsize=4096)
def _is_foreign(filename: str) -> bool:
    """Whether nobody will look at a file: torch's own, and code that was generated."""
    return filename.startswith((_TORCH, "<"))


def _known(variable: Any) -> _Known | None:
    tensor = names_compat.tensor_behind(variable)
    if tensor is None:
        return None
    try:
        strides = tensor.stride() if tensor.layout is torch.strided else ()
        return tensor.size(), strides, tensor.dtype, tensor.device
    except Exception:  # a class of tensors may have no sizes; the program must not see that
        return None


def _named(code: CodeType, name: str, place: Any, known: _Known | None) -> NamedTensor:
    row, column = place or (code.co_firstlineno, None)
    frame = StackFrame(code.co_filename, row, original_function(code.co_name), column)
    if known is None:
        return NamedTensor(name, "", "", "", frame, parameter=place is None)
    sizes, strides, dtype, device = known
    tensor = f"{short_name(dtype)}[{_joined(sizes)}]"
    return NamedTensor(name, tensor, _joined(strides), str(device), frame, parameter=place is None)


def _joined(sizes: Iterable[Any]) -> str:
    return ", ".join(map(str, sizes))
