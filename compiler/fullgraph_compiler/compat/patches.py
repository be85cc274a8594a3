"""Patches of torch and Triton: what they replace, and what fails without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from ..facts import Device


@dataclass(frozen=True)
class AbsentGpu:
    """An absent GPU, with functions that compilation for it needs."""

    device: Device
    for_gpu: Callable[[torch.fx.GraphModule, Sequence[Any]], tuple[torch.fx.GraphModule, list[Any]]]
    """Moves a graph and its inputs from the CPU to the GPU."""
    attend: Callable[..., Any]
    """Replaces ``scaled_dot_product_attention``, including the choice of its kernel."""


Apply: TypeAlias = Callable[[AbsentGpu], None]


@dataclass(frozen=True)
class Patch:
    """A replacement in torch or Triton.

    ``needed_for`` is the feature that fails or differs without it; ``versions`` are those of torch.
    """

    replaces: str
    why: str
    needed_for: str
    versions: str
    apply: Apply


def patch_into(
    patches: list[Patch], replaces: str, *, why: str, needed_for: str, versions: str = "2.11 to 2.15"
) -> Callable[[Apply], Apply]:
    """Return a decorator that appends the function, as a patch, to ``patches``."""

    def register(apply: Apply) -> Apply:
        patches.append(Patch(replaces, why, needed_for, versions, apply))
        return apply

    return register


def do_nothing(*_: Any, **__: Any) -> None:
    """Replace a function whose effect is not wanted."""
