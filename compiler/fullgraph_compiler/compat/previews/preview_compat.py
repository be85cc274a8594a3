"""What takes the place of parts of torch and Triton, so that they write kernels for a GPU that is not there.

The patches are those of ``preview_device_compat.py``, ``preview_inductor_compat.py`` and
``preview_driver_compat.py``: each is named by what it replaces, and says why, what fails without it, and in
which of the supported versions of torch.
:func:`stand_in` applies all of them to this process, for good: it must be one that nobody needs afterwards.
``tests/cases/preview`` are programs that need them; ``docs/preview.md`` says how far their kernels are those
of a GPU.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any, Final

import torch

from ..patches import Patch, Pretence
from . import preview_device_compat, preview_driver_compat, preview_inductor_compat

_log = logging.getLogger(__name__)

PATCHES: Final = (
    *preview_device_compat.PATCHES,
    *preview_inductor_compat.PATCHES,
    *preview_driver_compat.PATCHES,
)
"""In the order in which they are applied."""


def stand_in(pretence: Pretence) -> tuple[Patch, ...]:
    """Make this process believe in a device; return the patches that do not fit this torch."""
    failed: list[Patch] = []
    for patch in PATCHES:
        try:
            patch.apply(pretence)
        except Exception:
            _log.warning("no patch of %s", patch.replaces, exc_info=True)
            failed.append(patch)
    return tuple(failed)


def allow_gradients() -> None:
    """Let tensors without data that are on a GPU have gradients, where there is no GPU; Linux only."""
    if torch.backends.cuda.is_built() and not torch.cuda.is_available():
        try:
            preview_device_compat.deny_primary_context()
        except Exception:
            _log.warning("tensors on a GPU have no gradients", exc_info=True)


def why_not() -> str:
    """Say why this torch cannot write kernels for CUDA, in one sentence; empty if it can."""
    if not torch.backends.cuda.is_built():
        return f"torch {torch.__version__} is built without CUDA"
    try:
        importlib.import_module("triton")
    except ImportError as error:
        return f"Triton cannot be imported ({error})"
    return ""


def tracing_mode() -> Any:
    """Return the mode of tensors without data in which the graph is compiled that Dynamo has just captured.

    ``TracingContext.fake_mode`` (``torch/_guards.py``): 2.11 to 2.15.
    """
    from torch._guards import TracingContext

    return TracingContext.get().fake_mode


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether a tensor, with data or without, is of none of the classes that behave otherwise.

    ``FakeTensor`` (``torch/_subclasses/fake_tensor.py``): 2.11 to 2.15.
    """
    from torch._subclasses.fake_tensor import FakeTensor

    return type(tensor) in (torch.Tensor, torch.nn.Parameter, FakeTensor)
