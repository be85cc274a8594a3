"""NumPy and HDF5 files in a dry run: arrays of unknown values are saved as zeros."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..files.stand_ins import on_import, replace
from .checkpoints import note_unsaved
from .unknown import UnknownArray


def stand_in() -> None:
    """Patch NumPy and h5py permanently, to save arrays of unknown values as zeros."""
    on_import("numpy", _in_numpy)
    on_import("h5py", _in_hdf5)


def _in_numpy(module: Any) -> None:
    def saving(save: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(save)
        def save_zeros(file: Any, *arrays: Any, **named: Any) -> Any:
            zeros = {name: _zeros(module, array) for name, array in named.items()}
            return save(file, *(_zeros(module, array) for array in arrays), **zeros)

        return save_zeros

    saves = (module.save, module.savez, module.savez_compressed)
    replace(*((save, saving(save)) for save in saves))


def _zeros(numpy: Any, value: Any) -> Any:
    if not isinstance(value, UnknownArray):
        return value
    note_unsaved("NumPy wrote zeros")
    return numpy.zeros(value.shape, value.dtype)


def _in_hdf5(module: Any) -> None:
    group, dataset = module.Group, module.Dataset
    create, set_member, set_values = group.create_dataset, group.__setitem__, dataset.__setitem__

    @wraps(create)
    def create_empty(self: Any, name: Any, *args: Any, data: Any = None, **kwargs: Any) -> Any:
        if not isinstance(data, UnknownArray):
            return create(self, name, *args, data=data, **kwargs)
        note_unsaved("h5py wrote zeros")
        if not args:
            kwargs = {"shape": data.shape, "dtype": data.dtype, **kwargs}
        return create(self, name, *args, **kwargs)

    def set_empty_member(self: Any, name: Any, value: Any) -> None:
        if isinstance(value, UnknownArray):
            create_empty(self, name, data=value)
        else:
            set_member(self, name, value)

    def set_values_unless_unknown(self: Any, place: Any, value: Any) -> None:
        if isinstance(value, UnknownArray):
            note_unsaved("h5py wrote nothing")
        else:
            set_values(self, place, value)

    group.create_dataset, group.__setitem__, dataset.__setitem__ = (
        create_empty,
        set_empty_member,
        set_values_unless_unknown,
    )
