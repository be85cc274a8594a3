"""Phrases for runs without data or file changes, and for the GPUs of previews."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fullgraph_compiler.facts import DEVICES, Device, FilesDiscarded, RanDry

_GIB = 2**30
_SIGNALS = 2
"""Transfers per cycle of the memory clock, at double data rate."""

_PROTECTIONS: Final = {
    "landlock": "and Landlock blocked those of native code and child processes",
    "sandbox": "and macOS blocked those of native code and child processes",
    "python": "child processes and unknown native code were blocked, and known libraries were not watched",
}
"""What happened, in a run without a namespace, to file writes by code other than Python code."""


def brief(dry: RanDry) -> str:
    """Write ``dry run``, or ``preview for h100``."""
    return f"preview for {dry.device}" if dry.device else "dry run"


def sentence(dry: RanDry) -> str:
    """Write that a run had no data, or for which GPU it was a preview."""
    if not dry.device:
        return "dry run: without data"
    device = DEVICES.get(dry.device)
    return f"preview for {device.name if device else dry.device}: nothing ran on a GPU"


def left_out_words(parts: Sequence[str]) -> str:
    """Write which parts of the compiler did not run."""
    return f"{' and '.join(parts)} not run"


def files_words(discarded: FilesDiscarded) -> str:
    """Write ``no file was changed``, with the limits of that statement."""
    places = ", ".join(discarded.read_only)
    notes = []
    if discarded.by != "namespace":
        others = _PROTECTIONS[discarded.by]
        notes.append(f"no namespace, because {discarded.reason}: Python's writes were redirected, {others}")
    notes += [f"read-only: {places}"] if places else []
    start = "no file was changed by Python code" if discarded.by == "python" else "no file was changed"
    return start + (f" ({'; '.join(notes)})" if notes else "")


def bandwidth(device: Device) -> float:
    """Return the bandwidth of a GPU's memory, in bytes per second."""
    return device.memory_clock * 1000 * _SIGNALS * device.bus_width / 8


def memory_words(device: Device) -> str:
    """Write the size of a GPU's memory: ``80 GiB``."""
    return f"{device.memory // _GIB} GiB"


def bandwidth_words(device: Device) -> str:
    """Write the bandwidth of a GPU's memory: ``3.35 TB/s``."""
    return f"{bandwidth(device) / 1e12:.2f} TB/s"


def capability_words(device: Device) -> str:
    """Write the compute capability of a GPU: ``9.0``."""
    return ".".join(map(str, device.capability))


def device_words(device: Device) -> str:
    """Write ``compute capability 9.0, 132 SMs, 80 GiB at 3.35 TB/s``."""
    size = f"{memory_words(device)} at {bandwidth_words(device)}"
    return f"compute capability {capability_words(device)}, {device.multiprocessors} SMs, {size}"
