"""All patches with which torch and Triton generate kernels for an absent GPU.

``preview_device_compat.py``, ``preview_inductor_compat.py`` and ``preview_driver_compat.py`` contain the
patches. Each patch says what it replaces, why, what fails without the patch, and the versions of torch.
:func:`stand_in` applies all of them until the process ends, so the process must do nothing else.
``tests/cases/preview`` has programs that need the patches; ``docs/preview.md`` compares the kernels with
those of a real GPU.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any, Final

import torch

from ..patches import AbsentGpu, Patch
from . import preview_device_compat, preview_driver_compat, preview_inductor_compat

_log = logging.getLogger(__name__)

PATCHES: Final = (
    *preview_device_compat.PATCHES,
    *preview_inductor_compat.PATCHES,
    *preview_driver_compat.PATCHES,
)
"""All patches, in the order in which they are applied."""


def stand_in(pretence: AbsentGpu) -> tuple[Patch, ...]:
    """Let this process see an absent GPU; return the patches that failed."""
    failed: list[Patch] = []
    for patch in PATCHES:
        try:
            patch.apply(pretence)
        except Exception:
            _log.warning("no patch of %s", patch.replaces, exc_info=True)
            failed.append(patch)
    return tuple(failed)


def allow_gradients() -> None:
    """Let tensors without data on an absent GPU have gradients; Linux only."""
    if torch.backends.cuda.is_built() and not torch.cuda.is_available():
        try:
            preview_device_compat.deny_primary_context()
        except Exception:
            _log.warning("tensors on a GPU have no gradients", exc_info=True)


def why_not() -> str:
    """Return why this torch cannot generate kernels for CUDA; empty if it can.

    The reason is a clause, such as ``torch 2.13.0 is built without CUDA``.
    """
    if not torch.backends.cuda.is_built():
        return f"torch {torch.__version__} is built without CUDA"
    try:
        importlib.import_module("triton")
    except ImportError as error:
        return f"Triton cannot be imported ({error})"
    return ""


def tracing_mode() -> Any:
    """Return the ``FakeTensorMode`` of the graph that is being compiled.

    ``TracingContext.fake_mode`` (``torch/_guards.py``) (torch 2.11 to 2.15).
    """
    from torch._guards import TracingContext

    return TracingContext.get().fake_mode


def is_plain(tensor: torch.Tensor) -> bool:
    """Return whether a tensor, with or without data, is not of a tensor subclass.

    ``FakeTensor`` (``torch/_subclasses/fake_tensor.py``) (torch 2.11 to 2.15).
    """
    from torch._subclasses.fake_tensor import FakeTensor

    return type(tensor) in (torch.Tensor, torch.nn.Parameter, FakeTensor)
