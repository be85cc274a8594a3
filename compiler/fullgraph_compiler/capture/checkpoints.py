"""Checkpoints in a dry run: loading reads sizes and types only, and what is saved is given back.

A file that is saved holds no data but a number, wherever the program may write, copy or rename it; what was
saved under that number is kept in this process.
"""

from __future__ import annotations

import contextlib
import copy
import os
import sys
import warnings
from types import ModuleType
from typing import Any, Final

import torch

from ..facts import StackFrame, TargetProblem
from ..fake_compat import place_loaded, without_value
from ..files.protection import is_protected
from .live import calling_stack
from .safetensors_files import SafeOpen, header_of, read_sizes
from ..stand_ins import on_import, replace

_FRAMEWORKS: Final = ("pt", "torch", "pytorch")
_MARK: Final = b"Saved by Fullgraph in a dry run, without data: number "
_DIGITS: Final = 12
_saved: list[Any] = []
"""What the program has saved; each file holds the number of its own."""
_told: dict[StackFrame | None, TargetProblem] = {}


def stand_in() -> None:
    """Load and save checkpoints in this way from here on, for good. Files must be protected by then."""
    assert is_protected(), "what is saved here must not get into the user's files"
    set_state = torch.set_rng_state

    def set_known_state(new_state: torch.Tensor) -> None:
        if not without_value(new_state):
            set_state(new_state)

    place_loaded()
    replace(set_state, set_known_state)
    for save in (torch.save, torch.jit.save, torch.export.save):
        replace(save, _saving(save))
    for load in (torch.load, torch.jit.load, torch.export.load):
        replace(load, _loading(load))
    torch.jit.RecursiveScriptModule.save = torch.jit.ScriptFunction.save = _saving(torch.jit.save)
    on_import("safetensors", _open_sizes)
    on_import("safetensors.torch", _save_sizes)


def told() -> tuple[TargetProblem, ...]:
    """What was not written, each place once."""
    return tuple(_told.values())


def _saving(save: Any) -> Any:
    name = f"{save.__module__}.{save.__name__}".replace(".serialization", "")

    def keep(obj: Any, f: Any, *_: Any, **__: Any) -> None:
        # A program is saved to a path as its first argument by `torch.export.save(program, path)`, too.
        text = _MARK + b"%0*d\n" % (_DIGITS, len(_saved))
        _saved.append(_copy(obj))
        if isinstance(f, (str, os.PathLike)):
            with open(f, "wb") as file:
                file.write(text)
        else:
            f.write(text)
        _tell(f"`{name}` wrote nothing", "Later in this run, loading it gives back what was to be saved.")

    return keep


def _loading(load: Any) -> Any:
    def load_sizes(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if (number := _number_in(f)) is not None:
            return _copy(_saved[number])
        if callable(map_location):
            map_location = _device(map_location)
        # Some of these functions do not know the argument.
        given = {} if map_location is None else {"map_location": map_location}
        return load(f, *args, **given, **kwargs)

    return load_sizes


def _copy(obj: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch asks tensors that have no data where it is
            return copy.deepcopy(obj)
    except Exception:  # what is not to be copied (a tensor that was computed, a lock) is shared
        return obj


def _number_in(f: Any) -> int | None:
    """The number of what the program has saved in a file; ``None`` for any other file, which is left as it is."""
    length = len(_MARK) + _DIGITS + 1
    head = b""
    with contextlib.suppress(Exception):  # whatever it is, the real function says what is wrong with it
        if isinstance(f, (str, os.PathLike)):
            with open(f, "rb") as file:
                head = file.read(length)
        else:
            place = f.tell()
            head = f.read(length)
            if not head.startswith(_MARK):
                f.seek(place)
    return int(head[len(_MARK) :]) if head.startswith(_MARK) else None


def _open_sizes(module: ModuleType) -> None:
    real = module.safe_open

    def safe_open(filename: Any, framework: str, device: Any = "cpu", **kwargs: Any) -> Any:
        if framework not in _FRAMEWORKS:
            return real(filename, framework, device, **kwargs)
        return SafeOpen(filename, device)

    replace(real, safe_open)


def _save_sizes(module: ModuleType) -> None:
    def save_file(tensors: dict[str, torch.Tensor], filename: Any, metadata: Any = None) -> None:
        with open(filename, "wb") as file:
            file.write(save(tensors, metadata))

    def save(tensors: dict[str, torch.Tensor], metadata: Any = None) -> bytes:
        _tell("safetensors wrote no data")
        return header_of(tensors, metadata)

    for name, ours in {"save_file": save_file, "save": save, "load": read_sizes}.items():
        if (real := getattr(module, name, None)) is not None:
            replace(real, ours)


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
