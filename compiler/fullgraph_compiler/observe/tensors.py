"""Tensor factories for example calls, such as ``f32[8, 16]``."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ..facts import dtypes


@dataclass(frozen=True)
class TensorFactory:
    """A factory that creates tensors by indexing: ``f32[3]``, ``f32[2, 3]``.

    Floating-point and complex values are normally distributed. Integers and booleans are 0 or 1, which are
    valid indices nearly everywhere.
    """

    dtype: torch.dtype

    def __getitem__(self, shape: int | tuple[int, ...]) -> torch.Tensor:
        """Return a new tensor of the given shape."""
        size = shape if isinstance(shape, tuple) else (shape,)
        if self.dtype.is_complex:
            return torch.randn(size, dtype=torch.complex64).to(self.dtype)
        if self.dtype.is_floating_point:
            return torch.randn(size).to(self.dtype)
        return torch.randint(0, 2, size).to(self.dtype)


def short_name(dtype: torch.dtype) -> str:
    """Return the short name of a dtype in torch's graphs, such as ``f32``.

    If the dtype has no short name, return its whole name.
    """
    return dtypes.short_name(str(dtype))


def factories() -> dict[str, TensorFactory]:
    """Return a factory for each dtype that this torch has, by torch's short name."""
    dtypes_by_name = {name: getattr(torch, dtype, None) for name, dtype in dtypes.DTYPES.items()}
    return {name: TensorFactory(dtype) for name, dtype in dtypes_by_name.items() if dtype is not None}
