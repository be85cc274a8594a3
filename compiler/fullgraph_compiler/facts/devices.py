"""Properties of GPUs, from which the compiler writes kernels for an absent GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from .registry import Value

_KIB = 2**10
_MIB = 2**20
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Device(Value):
    """A GPU as ``torch.cuda.get_device_properties`` and Triton's driver describe it.

    ``name`` is the driver's name, under which torch looks up the data sheet
    (``torch/_inductor/analysis/device_info.py``). ``capability`` is CUDA's compute capability. Sizes are in
    bytes, clocks in kHz (the memory transfers data on both edges of its clock); ``bus_width`` is the width of
    the memory bus in bits. Only AMD GPUs have an ``architecture``. ``source`` names the origin of the
    figures, in addition to the tables of the CUDA C++ Programming Guide ("Compute Capabilities").
    """

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int
    l2_cache: int
    shared_memory: int
    """The most shared memory per block, in bytes."""
    shared_memory_of_multiprocessor: int
    threads: int
    """The most threads per multiprocessor."""
    clock: int
    memory_clock: int
    bus_width: int
    source: str
    warp: int = 32
    """The threads per warp (NVIDIA) or wavefront (AMD)."""
    architecture: str = ""


_HOPPER: Final = "NVIDIA H100 Tensor Core GPU Architecture whitepaper; data sheet"

DEVICES: Final[Mapping[str, Device]] = MappingProxyType(
    {
        "a100": Device(
            "NVIDIA A100-SXM4-80GB", (8, 0), 108, 80 * _GIB, 40 * _MIB, 163 * _KIB, 164 * _KIB, 2048,
            1_410_000, 1_593_000, 5120, "NVIDIA A100 Tensor Core GPU Architecture whitepaper",
        ),
        "l4": Device(
            "NVIDIA L4", (8, 9), 58, 24 * _GIB, 48 * _MIB, 99 * _KIB, 100 * _KIB, 1536,
            2_040_000, 6_251_000, 192, "NVIDIA L4 data sheet; NVIDIA Ada GPU Architecture whitepaper",
        ),
        "rtx4090": Device(
            "NVIDIA GeForce RTX 4090", (8, 9), 128, 24 * _GIB, 72 * _MIB, 99 * _KIB, 100 * _KIB, 1536,
            2_520_000, 10_501_000, 384, "NVIDIA Ada GPU Architecture whitepaper",
        ),
        "h100": Device(
            "NVIDIA H100 80GB HBM3", (9, 0), 132, 80 * _GIB, 50 * _MIB, 227 * _KIB, 228 * _KIB, 2048,
            1_980_000, 2_619_000, 5120, _HOPPER,
        ),
        "h200": Device(
            "NVIDIA H200", (9, 0), 132, 150_109_880_320, 60 * _MIB, 227 * _KIB, 228 * _KIB, 2048,
            1_980_000, 3_201_000, 6016, "read from a device; NVIDIA H200 data sheet",
        ),
        "b200": Device(
            "NVIDIA B200", (10, 0), 148, 180 * _GIB, 126 * _MIB, 227 * _KIB, 228 * _KIB, 2048,
            1_965_000, 3_996_000, 8192, "NVIDIA Blackwell data sheet",
        ),
        "mi300x": Device(
            "AMD Instinct MI300X", (9, 4), 304, 192 * _GIB, 4 * _MIB, 64 * _KIB, 64 * _KIB, 2048,
            2_100_000, 2_600_000, 8192, "AMD CDNA 3 architecture whitepaper; AMD Instinct MI300X data sheet",
            warp=64, architecture="gfx942",
        ),
    }
)  # fmt: skip
"""The devices that can be previewed, by the names that users type."""
