"""Patches of torch and Triton that say what they replace, why, and what fails without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from ..facts import Device


@dataclass(frozen=True)
class Pretence:
    """A GPU that is not there, and what compiling for it takes that torch has not."""

    device: Device
    for_gpu: Callable[[torch.fx.GraphModule, Sequence[Any]], tuple[torch.fx.GraphModule, list[Any]]]
    """Gives a graph of the CPU, with its inputs, as one of the GPU."""
    attend: Callable[..., Any]
    """Takes the place of ``scaled_dot_product_attention``, and of its choice among kernels."""


Apply: TypeAlias = Callable[[Pretence], None]


@dataclass(frozen=True)
class Patch:
    """One replacement. ``needed_for`` is what fails, or is another, without it; ``versions`` are torch's."""

    replaces: str
    why: str
    needed_for: str
    versions: str
    apply: Apply


def patch_into(
    patches: list[Patch], replaces: str, *, why: str, needed_for: str, versions: str = "2.11 to 2.15"
) -> Callable[[Apply], Apply]:
    """Make a function a patch, the last of ``patches``."""

    def register(apply: Apply) -> Apply:
        patches.append(Patch(replaces, why, needed_for, versions, apply))
        return apply

    return register


def do_nothing(*_: Any, **__: Any) -> None:
    """Take the place of a function whose effect is not wanted."""
