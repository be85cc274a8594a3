"""The GPUs for which kernels can be previewed, as a text table or JSON."""

from __future__ import annotations

from typing import TextIO

from fullgraph_compiler.facts import DEVICES

from ...text.devices import bandwidth, bandwidth_words, capability_words, memory_words
from ...text.tables import aligned
from ..output import write_line, write_object

_TITLES = ("name", "GPU", "compute capability", "SMs", "memory", "bandwidth")


def write(out: TextIO) -> None:
    """Write a line for each GPU; its first column is the value for ``--device``."""
    rows = [
        (
            name,
            device.name,
            capability_words(device),
            str(device.multiprocessors),
            memory_words(device),
            bandwidth_words(device),
        )
        for name, device in DEVICES.items()
    ]
    for line in aligned([_TITLES, *rows], "<<>>>>"):
        write_line(out, line)


def write_json(out: TextIO) -> None:
    """Write a JSON list of GPUs; memory is in bytes, bandwidth in bytes per second."""
    objects = [
        {
            "name": name,
            "gpu": device.name,
            "capability": list(device.capability),
            "multiprocessors": device.multiprocessors,
            "memory": device.memory,
            "bandwidth": bandwidth(device),
            "source": device.source,
        }
        for name, device in DEVICES.items()
    ]
    write_object(out, objects, indent=2)
