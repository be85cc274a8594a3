"""What programs around a model need values for, and can do without."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

import torch
from torch.distributions import Distribution
from torch.utils.data import DataLoader

from ..stand_ins import replace


def leave_values_out() -> None:
    """Leave out from here on, for good, what needs values and changes nothing that is compiled."""
    # Tensors without data do not go from process to process.
    _construct(
        DataLoader,
        num_workers=0,
        prefetch_factor=None,
        persistent_workers=False,
        timeout=0,
        multiprocessing_context=None,
        pin_memory=False,
    )
    torch.Tensor.pin_memory = lambda tensor, *_: tensor
    # Whether a step is left out for infinite gradients is decided by them.
    _construct(torch.amp.GradScaler, enabled=False)
    Distribution.set_default_validate_args(False)
    # It draws again what lies outside of the bounds.
    replace(torch.nn.init.trunc_normal_, _fill)


def _fill(tensor: torch.Tensor, mean: float = 0.0, std: float = 1.0, *_: Any, **__: Any) -> torch.Tensor:
    return torch.nn.init.normal_(tensor, mean, std)


def _construct(cls: Any, **arguments: Any) -> None:
    """Have a class constructed with these arguments, whatever the program says."""
    construct = cls.__init__
    signature = inspect.signature(construct)

    @wraps(construct)
    def construct_so(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.arguments.update(arguments)
        construct(*bound.args, **bound.kwargs)

    cls.__init__ = construct_so
