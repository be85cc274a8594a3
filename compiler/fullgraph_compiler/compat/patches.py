"""Patches of torch and Triton: what each replaces, and what fails without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from ..facts import Device


@dataclass(frozen=True)
class AbsentGpu:
    """An absent GPU, with the functions that replace parts of a compilation for it."""

    device: Device
    for_gpu: Callable[[torch.fx.GraphModule, Sequence[Any]], tuple[torch.fx.GraphModule, list[Any]]]
    """Moves a graph and its inputs from the CPU to the GPU."""
    attend: Callable[..., Any]
    """Replaces ``scaled_dot_product_attention``, including the choice of its kernel."""


Apply: TypeAlias = Callable[[AbsentGpu], None]


@dataclass(frozen=True)
class Patch:
    """A replacement in torch or Triton.

    ``needed_for`` is the feature that fails or differs without the patch; ``versions`` are torch's.
    """

    replaces: str
    why: str
    needed_for: str
    versions: str
    apply: Apply


def patch_into(
    patches: list[Patch], replaces: str, *, why: str, needed_for: str, versions: str = "2.11 to 2.15"
) -> Callable[[Apply], Apply]:
    """Return a decorator that appends a function, as a patch, to ``patches``."""

    def register(apply: Apply) -> Apply:
        patches.append(Patch(replaces, why, needed_for, versions, apply))
        return apply

    return register


def do_nothing(*_: Any, **__: Any) -> None:
    """Do nothing; replaces functions whose effect is unwanted."""
