"""Modules that ``torch.compile`` wraps: where, and how to run without wrappers.

If called with a module, ``torch.compile`` returns an ``OptimizedModule``, which has another class and other
names of parameters even if nothing is compiled. So a program with Dynamo disabled still differs from the
program without ``torch.compile``.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from ..compat import dynamo_compat
from ..facts import Cause, Evidence, Failure, FaultLocated, RunRequest, Stack
from ..observe.stacks import calling_stack
from . import printed
from .followed import is_followed

_PLACES = "wrapped.places"
_NAMES = re.compile("_orig_mod|OptimizedModule")
"""A pattern for the names by which a program refers to the wrapper."""


class WrapRecorder:
    """A recorder of the places at which ``torch.compile`` wraps a module."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, int], Stack] = {}

    def install(self) -> None:
        """Start to record wrapped modules."""
        dynamo_compat.intercept_compiled_modules(self._note, returned=False)

    def save(self, folder: Path) -> None:
        """Write the places into a folder for :func:`places`."""
        (folder / _PLACES).write_bytes(pickle.dumps(tuple(self._places.values())))

    def _note(self) -> None:
        stack = calling_stack(sys._getframe(1))
        while stack and not is_followed(stack[-1].filename):
            stack = stack[:-1]  # torch.compile itself
        if stack:
            self._places.setdefault((stack[-1].filename, stack[-1].row), stack)


def return_modules() -> None:
    """Make ``torch.compile`` return modules without a wrapper, from now on."""
    dynamo_compat.intercept_compiled_modules(lambda: None, returned=True)


def places(folder: Path) -> Sequence[Stack]:
    """Return the stacks of the calls that wrapped modules, one for each source line."""
    path = folder / _PLACES
    found: Sequence[Stack] = pickle.loads(path.read_bytes()) if path.exists() else ()
    return found


def knows_wrapper(request: RunRequest, filenames: Sequence[str]) -> bool:
    """Return whether a program's files name the wrapper, which they then handle."""
    edited = {text.filename: text.text for text in request.texts}
    return any(_NAMES.search(edited.get(name) or _text(Path(name))) for name in filenames)


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def printed_otherwise(unwrapped: Sequence[str], uncompiled: Sequence[str], captured: Sequence[str]) -> str:
    """Describe how a program's output differs because of the wrapper.

    Empty if it does not differ. ``unwrapped`` are the lines without the wrapper, ``uncompiled`` the lines
    with it. ``uncompiled`` must equal the lines under Dynamo alone (``captured``), otherwise the result is
    empty. Lines that only show the wrapper and its names are ignored.
    """
    if printed.difference(uncompiled, captured, captured):
        return ""
    missing, added = printed.differing(unwrapped, uncompiled)
    telling = [line for line in added if not _NAMES.search(line)] if added else missing
    telling = [line for line in telling if line.strip(" ()")]
    if not telling:
        return ""
    first = printed.quoted(telling[0])
    if not added:
        return f"it does not print `{first}`, but does without the wrapper"
    unwrapped_line = f"`{printed.quoted(missing[0])}`" if missing else "not"
    return f"it prints `{first}`, but {unwrapped_line} without the wrapper"


def wrapper_fault(folder: Path, failure: Failure, raised: Stack = ()) -> FaultLocated:
    """Return the fault of a program that behaves differently with wrapped modules.

    ``raised`` is the stack of the failure; the cause gets it as ``caller``.
    """
    own = places(folder)
    evidence = tuple(Evidence("", "", "", stack) for stack in own)
    followed = tuple(frame for frame in raised if is_followed(frame.filename))
    cause = Cause("wrapped", "", 0, 0, evidence, followed)
    return FaultLocated(1, "uncompiled", "unwrapped", failure, "", own[0], cause=cause)
