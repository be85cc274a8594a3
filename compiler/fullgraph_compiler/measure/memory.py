"""Measure the peak memory of calls, and find the allocations at the peak."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from ..compat import profiler_compat
from ..facts import MemoryHeld, MemoryMeasured
from .repeating import Repetition

_ALLOCATORS: Final = ("empty_strided_cpu", "empty_strided_cpu_pinned", "empty_strided_cuda")
"""The functions with which generated code allocates (``torch/_inductor/codegen/wrapper.py``: 2.11–2.15)."""
_MOST_HELD: Final = 5


def measure_memory(repetition: Repetition, modules: Sequence[ModuleType]) -> MemoryMeasured:
    """Measure the peak memory of the repeated calls, compiled and uncompiled.

    ``modules`` are the modules of the generated code.
    """
    eager = profiler_compat.peak_memory(lambda: repetition.seconds(compiled=False))
    compiled = profiler_compat.peak_memory(lambda: repetition.seconds(compiled=True))
    watch = _AllocationWatch()
    with watch.of(modules):
        repetition.seconds(compiled=True)
    return MemoryMeasured(compiled, eager, watch.held())


@dataclass(frozen=True, slots=True)
class _Allocation:
    storage: StorageWeakRef
    size: int
    filename: str
    row: int


class _AllocationWatch:
    """A watcher of generated code's live allocations, which keeps those at the peak."""

    def __init__(self) -> None:
        self._live: list[_Allocation] = []
        self._most = 0
        self._at_peak: list[_Allocation] = []

    def of(self, modules: Sequence[ModuleType]) -> AbstractContextManager[None]:
        """Watch the allocations of the code in these modules during the returned context."""
        return profiler_compat.replaced(
            modules, lambda name, value: self._watched(value) if name in _ALLOCATORS else None
        )

    def held(self) -> tuple[MemoryHeld, ...]:
        """Return the largest allocations at the peak, summed by line of generated code."""
        sizes: dict[tuple[str, int], int] = defaultdict(int)
        for item in self._at_peak:
            sizes[item.filename, item.row] += item.size
        largest = sorted(sizes.items(), key=lambda item: -item[1])[:_MOST_HELD]
        return tuple(MemoryHeld(size, filename, row) for (filename, row), size in largest)

    def _watched(self, allocate: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        def allocate_and_note(*arguments: Any) -> torch.Tensor:
            tensor = allocate(*arguments)
            frame = sys._getframe(1)
            storage = tensor.untyped_storage()
            self._live = [item for item in self._live if not item.storage.expired()]
            place = frame.f_code.co_filename, frame.f_lineno
            self._live.append(_Allocation(StorageWeakRef(storage), storage.nbytes(), *place))
            total = sum(item.size for item in self._live)
            if total > self._most:
                self._most, self._at_peak = total, list(self._live)
            return tensor

        return allocate_and_note
