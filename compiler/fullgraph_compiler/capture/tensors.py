"""Tensor factories for example calls: ``f32[8, 16]`` is a tensor of that dtype and shape."""

from __future__ import annotations

from dataclasses import dataclass

import torch

_DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "c128": "complex128",
    "c64": "complex64",
    "c32": "complex32",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u64": "uint64",
    "u32": "uint32",
    "u16": "uint16",
    "u8": "uint8",
    "b8": "bool",
}
"""Names as torch prints them in its graphs (``torch/utils/_dtype_abbrs.py``)."""
_SHORT_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


@dataclass(frozen=True)
class TensorFactory:
    """Makes tensors by indexing: ``f32[3]``, ``f32[2, 3]``, ``f32[()]``.

    Floating point and complex values are normally distributed. Integers and booleans are 0 or 1, so
    that they serve as indices into nearly anything.
    """

    dtype: torch.dtype

    def __getitem__(self, shape: int | tuple[int, ...]) -> torch.Tensor:
        """A new tensor of the given shape."""
        size = shape if isinstance(shape, tuple) else (shape,)
        if self.dtype.is_complex:
            return torch.randn(size, dtype=torch.complex64).to(self.dtype)
        if self.dtype.is_floating_point:
            return torch.randn(size).to(self.dtype)
        return torch.randint(0, 2, size).to(self.dtype)


def short_name(dtype: torch.dtype) -> str:
    """How torch calls a dtype in its graphs: ``f32``; its whole name, of one that has no short one here."""
    name = str(dtype).removeprefix("torch.")
    return _SHORT_NAMES.get(name, name)


def factories() -> dict[str, TensorFactory]:
    """One factory for each dtype that this torch has, under torch's short name."""
    found = {name: getattr(torch, dtype, None) for name, dtype in _DTYPES.items()}
    return {name: TensorFactory(dtype) for name, dtype in found.items() if dtype is not None}
