"""Runs without data, or without files: how that is said, and the GPUs that they can be for."""

from __future__ import annotations

from fullgraph_compiler.facts import DEVICES, Device, FilesDiscarded, RanDry

_GIB = 2**30
_SIGNALS = 2
"""Of a memory clock: data goes with both of its edges."""


def brief(dry: RanDry) -> str:
    """``dry run``, or ``preview for h100``."""
    return f"preview for {dry.device}" if dry.device else "dry run"


def sentence(dry: RanDry) -> str:
    """What a person has to know of such a run before anything else."""
    if not dry.device:
        return "dry run: without data"
    device = DEVICES.get(dry.device)
    return f"preview for {device.name if device else dry.device}: nothing ran on a GPU"


def files_words(discarded: FilesDiscarded) -> str:
    """What became of the files that a program wrote: ``no file was changed``, and how far that holds."""
    if discarded.by == "landlock":
        return f"no file was changed (writes are redirected or refused: {discarded.reason})"
    if discarded.by == "python":
        return f"no file was changed that Python knows of ({discarded.reason})"
    places = ", ".join(discarded.read_only)
    return "no file was changed" + (f" (read-only: {places})" if places else "")


def bandwidth(device: Device) -> float:
    """The bytes that a GPU's memory gives in a second."""
    return device.memory_clock * 1000 * _SIGNALS * device.bus_width / 8


def memory_words(device: Device) -> str:
    """``80 GiB``."""
    return f"{device.memory // _GIB} GiB"


def bandwidth_words(device: Device) -> str:
    """``3.35 TB/s``."""
    return f"{bandwidth(device) / 1e12:.2f} TB/s"


def capability_words(device: Device) -> str:
    """``9.0``."""
    return ".".join(map(str, device.capability))


def device_words(device: Device) -> str:
    """``compute capability 9.0, 132 SMs, 80 GiB at 3.35 TB/s``."""
    size = f"{memory_words(device)} at {bandwidth_words(device)}"
    return f"compute capability {capability_words(device)}, {device.multiprocessors} SMs, {size}"
