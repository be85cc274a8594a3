"""Safetensors files in a dry run: only the header is read and written."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any, Final

import torch

_DTYPES: Final = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E8M0": "float8_e8m0fnu",
    "I16": "int16",
    "U16": "uint16",
    "F16": "float16",
    "BF16": "bfloat16",
    "I32": "int32",
    "U32": "uint32",
    "F32": "float32",
    "I64": "int64",
    "U64": "uint64",
    "F64": "float64",
    "C64": "complex64",
}
"""The dtypes of torch, by their names in a header."""


_NAMES: Final = {name: key for key, name in _DTYPES.items()}
_LENGTH: Final = 8
"""The number of bytes of the length field that precedes the header."""


def header_of(tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str] | None) -> bytes:
    """Return the content of a file with these tensors, without their data."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.numel() * tensor.element_size()
        dtype = _NAMES[str(tensor.dtype).removeprefix("torch.")]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    return len(text).to_bytes(_LENGTH, "little") + text


def read_sizes(data: bytes) -> dict[str, torch.Tensor]:
    """Return the tensors in the content of a file, without data.

    This function replaces ``safetensors.torch.load``.
    """
    return SafetensorsFile(io.BytesIO(data), "cpu").get_tensors()


class SafetensorsFile:
    """An open file whose tensors have no data.

    This class replaces ``safetensors.safe_open``.
    """

    def __init__(self, source: Any, device: Any) -> None:
        with source if isinstance(source, io.BytesIO) else open(source, "rb") as file:
            size = int.from_bytes(file.read(_LENGTH), "little")
            self._tensors: dict[str, Any] = json.loads(file.read(size))
        self._metadata: dict[str, str] | None = self._tensors.pop("__metadata__", None)
        self._device = device

    def __enter__(self) -> SafetensorsFile:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def keys(self) -> list[str]:
        """Return the names of the tensors, sorted."""
        return sorted(self._tensors)

    def offset_keys(self) -> list[str]:
        """Return the names of the tensors in the order of their data in the file."""
        return sorted(self._tensors, key=lambda name: self._tensors[name]["data_offsets"])

    def metadata(self) -> dict[str, str] | None:
        """Return the metadata of the header."""
        return self._metadata

    def get_tensor(self, name: str) -> torch.Tensor:
        """Return the tensor with this name."""
        return self.get_slice(name)[...]

    def get_tensors(self) -> dict[str, torch.Tensor]:
        """Return all tensors by name."""
        return {name: self.get_tensor(name) for name in self.offset_keys()}

    def get_slice(self, name: str) -> TensorSlice:
        """Return a tensor that is created only when it is indexed."""
        return TensorSlice(self._tensors[name], self._device)


class TensorSlice:
    """A tensor of an open file; indexing creates the tensor."""

    def __init__(self, header: dict[str, Any], device: Any) -> None:
        self._header = header
        self._device = device

    def get_shape(self) -> list[int]:
        """Return the shape of the tensor."""
        return list(self._header["shape"])

    def get_dtype(self) -> str:
        """Return the dtype of the tensor, as the header names it."""
        return str(self._header["dtype"])

    def __getitem__(self, index: Any) -> torch.Tensor:
        dtype = getattr(torch, _DTYPES[self.get_dtype()])
        shape = self.get_shape()
        return torch.empty_like(torch.empty(shape, dtype=dtype)[index], device=self._device)
