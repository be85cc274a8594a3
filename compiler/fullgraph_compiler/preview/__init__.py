"""Previews: kernels for a GPU that this machine does not have.

Each graph is moved to the GPU and compiled for it, while the program runs the graph uncompiled. The compiler
is the torch of this process (:mod:`.here`) or the torch of another interpreter (:mod:`.elsewhere`).

- ``here``: write kernels with the torch of this process
- ``elsewhere``: write graphs as programs, for an interpreter whose torch can write the kernels
- ``moving``: move the graph of a CPU program to the GPU
- ``attention``: choose the kernel that attention uses on a GPU
- ``building``: compile kernels to machine code without loading them
- ``self_test``: a program with a function for each feature of a preview
"""

from __future__ import annotations

from ..compat.previews import preview_compat
from ..facts import RunRequest
from .elsewhere import DeferredPreview
from .here import LocalPreview


def preview_of(request: RunRequest) -> LocalPreview | DeferredPreview | None:
    """Return the preview for a request that names a ``device``.

    ``None`` if the request names no device, or if no preview is possible.
    """
    if not request.switches.device:
        return None
    reason = preview_compat.why_not()
    if not reason:
        return LocalPreview(request.switches.device)
    # Only a run for kernels needs another torch.
    return DeferredPreview(request.switches.device, reason) if request.depth == "kernels" else None


def no_preview(request: RunRequest) -> tuple[str, ...]:
    """Return why the request's ``device`` cannot be previewed, as one sentence.

    Empty if the request names no device.
    """
    if not request.switches.device:
        return ()
    return (f"{preview_compat.why_not()}: the program ran on the CPU.",)
