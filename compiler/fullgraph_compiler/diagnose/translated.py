"""Compare NumPy calls with torch's translation of the same functions."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

from ..cases import checking
from ..compat import dynamo_compat
from .results import as_tensor

_NOT_COMPARED: Final = frozenset(("empty", "empty_like"))
"""Functions that return uninitialized memory, so that their results cannot be compared."""


@dataclass(frozen=True, slots=True)
class NumpyMismatch:
    """A NumPy function whose translation differs, with the first differing values."""

    name: str
    numpy: str
    torch: str


class NumpyWatcher:
    """A watcher of NumPy calls.

    ``found`` is called for each call whose translation differs, with the calling frame and the difference.
    """

    def __init__(self, found: Callable[[FrameType, NumpyMismatch], None]) -> None:
        self._found = found
        self._saved: dict[str, Any] = {}
        self._inside = False

    def install(self) -> None:
        """Start to watch calls, if the program has imported NumPy."""
        numpy = sys.modules.get("numpy")
        if numpy is None:
            return
        for name, translation in dynamo_compat.numpy_translations().items():
            original = getattr(numpy, name, None)
            if callable(original) and not isinstance(original, type) and name not in _NOT_COMPARED:
                self._saved[name] = original
                setattr(numpy, name, _WatchedFunction(self, name, original, translation))

    def remove(self) -> None:
        """Restore NumPy's functions."""
        for name, original in self._saved.items():
            setattr(sys.modules["numpy"], name, original)
        self._saved = {}

    def compare(
        self, frame: FrameType, watched: _WatchedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Return the result of a NumPy function, and report if its translation differs."""
        original = watched.original
        if self._inside or "out" in kwargs:
            return original(*args, **kwargs)
        self._inside = True
        try:
            translated = _translated(watched, args, kwargs)  # first: the function may write into arguments
            result = original(*args, **kwargs)
            with contextlib.suppress(Exception):
                if difference := _difference(watched.name, result, translated):
                    self._found(frame, difference)
            return result
        finally:
            self._inside = False


class _WatchedFunction:
    """A function of NumPy whose calls are compared.

    Its attributes are those of the original function (for example ``reduce``).
    """

    def __init__(
        self, calls: NumpyWatcher, name: str, original: Callable[..., Any], translation: Callable[..., Any]
    ) -> None:
        self._calls = calls
        self.name = name
        self.original = original
        self.translation = translation
        self.__module__ = "numpy"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._calls.compare(sys._getframe(1), self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)

    def __reduce__(self) -> str:
        return self.name  # copies and pickles refer to the name in NumPy, as those of a function do


def _translated(watched: _WatchedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of torch's translation of a NumPy function.

    ``None`` if the translation does not support these arguments.
    """
    with contextlib.suppress(Exception):
        given = dynamo_compat.as_translated_numpy(args)
        named = {key: dynamo_compat.as_translated_numpy(value) for key, value in kwargs.items()}
        return dynamo_compat.as_numpy_array(watched.translation(*given, **named))
    return None


def _difference(name: str, result: Any, translated: Any) -> NumpyMismatch | None:
    plain, other = as_tensor(result), as_tensor(translated)
    if plain is None or other is None or not checking.difference("", other, plain, None):
        return None
    if plain.shape != other.shape:
        return NumpyMismatch(name, f"shape {[*plain.shape]}", f"shape {[*other.shape]}")
    wrong = ~(plain.isclose(other, equal_nan=True))
    if not bool(wrong.any()):
        return None
    first, second = (f"{tensor[wrong].flatten()[0].item():.6g}" for tensor in (plain, other))
    return NumpyMismatch(name, first, second)
