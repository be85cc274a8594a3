"""Checkpoints in a dry run: loading reads sizes and types only, and saving writes nothing."""

from __future__ import annotations

import copy
import os
import sys
from types import ModuleType
from typing import Any, Final

import torch

from ..facts import StackFrame, TargetProblem
from ..fake_compat import place_loaded, without_value
from .files import leave_files_alone
from .live import calling_stack
from .safetensors_files import SafeOpen
from .stand_ins import on_import, replace

_FRAMEWORKS: Final = ("pt", "torch", "pytorch")
_saved: dict[Any, Any] = {}
"""What the program would find in a file, by its path, or by the object that stands for it."""
_told: dict[StackFrame | None, TargetProblem] = {}


def stand_in() -> None:
    """Load and save checkpoints in this way from here on, for good."""
    load, save, set_state = torch.load, torch.save, torch.set_rng_state

    def load_sizes(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        key = _key(f)
        if key in _saved:
            return copy.deepcopy(_saved[key])
        return load(f, _device(map_location) if callable(map_location) else map_location, *args, **kwargs)

    def keep(obj: Any, f: Any, *_: Any, **__: Any) -> None:
        _saved[_key(f)] = obj
        _tell(
            "`torch.save` wrote nothing", "Later in this run, `torch.load` gives back what was to be saved."
        )

    def export_none(*_: Any, **__: Any) -> None:
        _tell("no program was written")

    def set_known_state(new_state: torch.Tensor) -> None:
        if not without_value(new_state):
            set_state(new_state)

    place_loaded()
    replace(load, load_sizes)
    replace(save, keep)
    replace(set_state, set_known_state)
    for write in (torch.jit.save, torch.export.save):
        replace(write, export_none)
    torch.jit.RecursiveScriptModule.save = torch.jit.ScriptFunction.save = export_none
    leave_files_alone(_saved, _tell)
    on_import("safetensors", _open_sizes)
    on_import("safetensors.torch", _write_none)


def told() -> tuple[TargetProblem, ...]:
    """What was not written, each place once."""
    return tuple(_told.values())


def _open_sizes(module: ModuleType) -> None:
    real = module.safe_open

    def safe_open(filename: Any, framework: str, device: Any = "cpu", **kwargs: Any) -> Any:
        if framework not in _FRAMEWORKS:
            return real(filename, framework, device, **kwargs)
        return SafeOpen(filename, device)

    replace(real, safe_open)


def _write_none(module: ModuleType) -> None:
    def save_file(*_: Any, **__: Any) -> None:
        _tell("`safetensors.torch.save_file` wrote nothing")

    replace(module.save_file, save_file)


def _key(f: Any) -> Any:
    name = f if isinstance(f, (str, os.PathLike)) else getattr(f, "name", None)
    return os.path.realpath(name) if isinstance(name, (str, os.PathLike)) else f


def _device(map_location: Any) -> str | None:
    """Where a function puts what it is given; without a GPU it cannot put it there."""
    try:
        moved = map_location(torch.UntypedStorage(0), "cpu")
    except Exception:  # whatever torch raises then
        return "cuda"
    return None if moved is None else str(moved.device)


def _tell(what: str, hint: str = "") -> None:
    stack = calling_stack(sys._getframe())
    message = f"{what}: a dry run has no data to keep"
    problem = TargetProblem("information", message, (hint,) if hint else (), stack)
    _told.setdefault(stack[-1] if stack else None, problem)
