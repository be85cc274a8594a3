"""The short names of dtypes, as torch prints them in its graphs.

Source: ``torch/utils/_dtype_abbrs.py``.
"""

from __future__ import annotations

from typing import Final

DTYPES: Final = {
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
_SHORT_NAMES: Final = {f"torch.{dtype}": name for name, dtype in DTYPES.items()}


def short_name(dtype: str) -> str:
    """Return the short name of a dtype: ``f32`` for ``torch.float32``.

    For a dtype without a short name, return its name in ``torch``.
    """
    return _SHORT_NAMES.get(dtype, dtype.removeprefix("torch."))
