"""Checkpoints in a dry run: only sizes and dtypes are loaded and saved.

Saving still creates a real file, which the program can copy or rename.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import torch

from ..compat.fake_compat import place_loaded, without_value
from ..facts import StackFrame, TargetProblem
from ..files.protection import is_protected
from ..files.stand_ins import on_import, replace
from ..observe.stacks import calling_stack
from .dataless_pickle import dumps, loads, place_of
from .safetensors_files import SafetensorsFile, header_of, read_sizes

_FRAMEWORKS: Final = ("pt", "torch", "pytorch")
_MARK: Final = b"Saved by Fullgraph in a dry run: sizes and types, without data. "
_LENGTH: Final = 8
"""The number of bytes of the length field that precedes the content of a file."""
_programs: list[Any] = []
"""The scripted and exported programs that were saved; a file contains an index into this list."""
_unsaved: dict[StackFrame | None, TargetProblem] = {}


def stand_in() -> None:
    """Patch the functions that load and save checkpoints, permanently.

    The user's files must already be protected.
    """
    assert is_protected(), "checkpoints of a dry run must not overwrite the user's files"
    set_state = torch.set_rng_state

    def set_state_unless_unknown(new_state: torch.Tensor) -> None:
        if not without_value(new_state):
            set_state(new_state)

    place_loaded()
    save_script = _saving("torch.jit.save", _as_program)
    torch.jit.RecursiveScriptModule.save = torch.jit.ScriptFunction.save = save_script
    replace(
        (set_state, set_state_unless_unknown),
        (torch.jit.save, save_script),
        (torch.export.save, _saving("torch.export.save", _as_program)),
        (torch.save, _saving("torch.save")),
        *((load, _loading(load)) for load in (torch.load, torch.jit.load, torch.export.load)),
    )
    on_import("safetensors", _open_sizes)
    on_import("safetensors.torch", _save_sizes)


def problems() -> tuple[TargetProblem, ...]:
    """Return a problem for each line of code whose data was not saved."""
    return tuple(_unsaved.values())


def _saving(name: str, prepare: Callable[[Any], Any] = lambda obj: obj) -> Any:
    def keep(obj: Any, f: Any, *_: Any, **__: Any) -> None:
        content = dumps(prepare(obj))
        text = _MARK + len(content).to_bytes(_LENGTH, "little") + content
        if isinstance(f, (str, os.PathLike)):
            with open(f, "wb") as file:
                file.write(text)
        else:
            f.write(text)
        note_unsaved(f"`{name}` wrote nothing", "In the same run, loading the file returns the saved object.")

    return keep


def _loading(load: Any) -> Any:
    def load_sizes(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        content = _content(f)
        if content is not None:
            saved = loads(content, map_location)
            return _programs[saved.number] if isinstance(saved, _ProgramObject) else saved
        if callable(map_location):
            map_location = place_of(map_location)
        # Some of these functions do not have the argument.
        given = {} if map_location is None else {"map_location": map_location}
        return load(f, *args, **given, **kwargs)

    return load_sizes


@dataclass(frozen=True)
class _ProgramObject:
    number: int


def _as_program(obj: Any) -> _ProgramObject:
    _programs.append(obj)
    return _ProgramObject(len(_programs) - 1)


def _content(f: Any) -> bytes | None:
    """Return the content that a dry run saved in a file; ``None`` for any other file."""
    with contextlib.suppress(Exception):  # the real function will raise the error of an unreadable file
        if isinstance(f, (str, os.PathLike)):
            with open(f, "rb") as file:
                return _read(file)
        place = f.tell()
        if (content := _read(f)) is not None:
            return content
        f.seek(place)
    return None


def _read(file: Any) -> bytes | None:
    if file.read(len(_MARK)) != _MARK:
        return None
    content: bytes = file.read(int.from_bytes(file.read(_LENGTH), "little"))
    return content


def _open_sizes(module: ModuleType) -> None:
    real = module.safe_open

    def safe_open(filename: Any, framework: str, device: Any = "cpu", **kwargs: Any) -> Any:
        if framework not in _FRAMEWORKS:
            return real(filename, framework, device, **kwargs)
        return SafetensorsFile(filename, device)

    replace((real, safe_open))


def _save_sizes(module: ModuleType) -> None:
    def save_file(tensors: dict[str, torch.Tensor], filename: Any, metadata: Any = None) -> None:
        with open(filename, "wb") as file:
            file.write(save(tensors, metadata))

    def save(tensors: dict[str, torch.Tensor], metadata: Any = None) -> bytes:
        note_unsaved("safetensors wrote no data")
        return header_of(tensors, metadata)

    for name, ours in {"save_file": save_file, "save": save, "load": read_sizes}.items():
        if (real := getattr(module, name, None)) is not None:
            replace((real, ours))


def note_unsaved(event: str, hint: str = "") -> None:
    """Record a problem, once for each calling line: the line's data is not saved."""
    stack = calling_stack(sys._getframe())
    message = f"{event}: a dry run has no data to save"
    problem = TargetProblem("information", message, (hint,) if hint else (), stack)
    _unsaved.setdefault(stack[-1] if stack else None, problem)
