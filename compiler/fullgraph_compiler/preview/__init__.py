"""Previews: kernels for an absent GPU.

Each graph is moved to the GPU and compiled for it, while the program runs it uncompiled: by this torch
(:mod:`.here`), or by the torch of another interpreter (:mod:`.elsewhere`).

- ``here``: kernels written by this process's torch
- ``elsewhere``: graphs written as programs, for an interpreter whose torch can write the kernels
- ``moving``: move the graph of a CPU program to the GPU
- ``attention``: which kernel attention takes on a GPU
- ``building``: compile kernels down to machine code, and load none
- ``self_test``: a program with a function for each thing that a preview can do
"""

from __future__ import annotations

from ..compat.previews import preview_compat
from ..facts import RunRequest
from .elsewhere import Elsewhere
from .here import Here


def preview_of(request: RunRequest) -> Here | Elsewhere | None:
    """Return the preview for a request with a ``device``; ``None`` without one, or if none is possible."""
    if not request.switches.device:
        return None
    reason = preview_compat.why_not()
    if not reason:
        return Here(request.switches.device)
    # Only for kernels would another torch make a difference.
    return Elsewhere(request.switches.device, reason) if request.depth == "kernels" else None


def no_preview(request: RunRequest) -> tuple[str, ...]:
    """Return a sentence for a request whose ``device`` cannot be previewed; nothing without a device."""
    if not request.switches.device:
        return ()
    return (f"{preview_compat.why_not()}: the program ran on the CPU.",)
