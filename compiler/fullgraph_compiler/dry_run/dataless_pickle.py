"""Pickle tensors with only their sizes, dtypes and devices."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..compat.fake_compat import known_numbers

_place: Callable[[str], str] = str
"""During loading, maps the device of a saved tensor to the device of the loaded tensor."""


def dumps(obj: Any) -> bytes:
    """Return the pickle of an object.

    Raises the errors of ``pickle``.
    """
    stream = io.BytesIO()
    _DatalessPickler(stream).dump(obj)
    return stream.getvalue()


def loads(content: bytes, map_location: Any = None) -> Any:
    """Return the object of a pickle, with devices as ``torch.load`` would choose them."""
    global _place
    before, _place = _place, _placing(map_location)
    try:
        return pickle.loads(content)
    finally:
        _place = before


def place_of(map_location: Callable[..., Any]) -> str | None:
    """Return the device to which a ``map_location`` function moves storages.

    ``cuda`` if the function fails, probably for lack of a GPU. ``None`` if it leaves the device unchanged.
    """
    try:
        moved = map_location(torch.UntypedStorage(0), "cpu")
    except Exception:  # the type depends on the version of torch
        return "cuda"
    return None if moved is None else str(moved.device)


def _placing(map_location: Any) -> Callable[[str], str]:
    if map_location is None:
        return str
    if isinstance(map_location, Mapping):
        places = {str(torch.device(old)): str(torch.device(new)) for old, new in map_location.items()}
        return lambda device: places.get(device, device)
    place = place_of(map_location) if callable(map_location) else str(torch.device(map_location))
    return lambda device: place or device


class _DatalessPickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        """Reduce a tensor or a storage to its description.

        All other objects are left to ``pickle``.
        """
        if isinstance(obj, torch.Tensor) and obj.layout is torch.strided:
            description = (tuple(obj.shape), obj.stride(), obj.dtype, str(obj.device), obj.requires_grad)
            return _tensor, (*description, isinstance(obj, torch.nn.Parameter), known_numbers(obj))
        if isinstance(obj, torch.UntypedStorage):
            return _storage, (obj.nbytes(), str(obj.device))
        return NotImplemented


def _tensor(
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    dtype: torch.dtype,
    device: str,
    requires_grad: bool,
    is_parameter: bool,
    numbers: Any,
) -> torch.Tensor:
    place = _place(device)
    if numbers is not None:
        tensor = torch.tensor(numbers, dtype=dtype, device=place).reshape(shape)
    else:
        tensor = torch.empty_strided(shape, stride, dtype=dtype, device=place)
    if is_parameter:
        return torch.nn.Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def _storage(size: int, device: str) -> torch.UntypedStorage:
    return torch.empty(size, dtype=torch.uint8, device=_place(device)).untyped_storage()
