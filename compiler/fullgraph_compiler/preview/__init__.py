"""Kernels for a GPU that is not there.

Each graph is moved to the GPU, compiled for it, and runs uncompiled: by this torch (:mod:`.here`), or by that
of another interpreter (:mod:`.elsewhere`).

- ``here``: kernels written by this process's torch
- ``elsewhere``: graphs written as programs, for an interpreter whose torch can write the kernels
- ``moving``: move the graph of a CPU program to the GPU
- ``attention``: which kernel attention takes on a GPU
- ``building``: compile kernels down to machine code, and load none
- ``self_test``: a program with a function for each thing that a preview can do
"""

from __future__ import annotations

from ..compat import preview_compat
from ..facts import RunRequest
from .elsewhere import Elsewhere
from .here import Here


def preview_of(request: RunRequest) -> Here | Elsewhere | None:
    """What a run does for a GPU that is not there, if it is for one."""
    if not request.switches.device:
        return None
    reason = preview_compat.why_not()
    if not reason:
        return Here(request.switches.device)
    # Without kernels there is nothing that another torch would do otherwise.
    return Elsewhere(request.switches.device, reason) if request.depth == "kernels" else None


def no_preview(request: RunRequest) -> tuple[str, ...]:
    """What a person has to know who wants a GPU that this run is not for."""
    if not request.switches.device:
        return ()
    return (f"{preview_compat.why_not()}: the program ran on the CPU.",)
