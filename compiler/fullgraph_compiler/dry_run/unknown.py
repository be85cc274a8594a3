"""Stand-ins for numbers and arrays with unknown values in a dry run.

A program may log and save the stand-ins. For example, a training loop can log its loss, because nothing
depends on the value. A branch on an unknown number ends the run, and so does the creation of a tensor from an
unknown number.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from ..compat.fake_compat import no_value
from ..observe.outcome import words_of


def _computed(self: UnknownNumber, *others: Any) -> Any:
    return self if all(isinstance(other, _NUMBERS) for other in others) else NotImplemented


def _decides(*_: Any) -> Any:
    raise no_value()


class UnknownNumber:
    """A number with an unknown value, or a number computed from such a number."""

    def __str__(self) -> str:
        return "?"

    def __format__(self, _: str) -> str:
        return "?"

    def __round__(self, _: int | None = None) -> UnknownNumber:
        return self

    __repr__ = __str__
    __hash__ = object.__hash__
    __neg__ = __pos__ = __abs__ = _computed
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _computed
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _computed
    __bool__ = __int__ = __float__ = __complex__ = __index__ = _decides
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _decides


class UnknownArray:
    """An array with only a shape and a dtype: ``numpy()`` of a tensor without data."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype
        self.ndim, self.size, self.itemsize = len(shape), math.prod(shape), int(dtype.itemsize)
        self.nbytes = self.size * self.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def copy(self) -> UnknownArray:
        """Return the array itself, because it has no data that could change."""
        return self

    def astype(self, dtype: Any, **_: Any) -> UnknownArray:
        """Return an array of the same shape with another dtype."""
        return UnknownArray(self.shape, sys.modules["numpy"].dtype(dtype))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise no_value("numpy")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise no_value("numpy")

    def _decides(self, *_: Any) -> Any:
        raise no_value("numpy")

    __hash__ = object.__hash__
    __bool__ = __int__ = __float__ = __index__ = __getitem__ = __iter__ = _decides
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _decides
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = _decides
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _decides
    __neg__ = __abs__ = _decides


_NUMBERS = (int, float, complex, UnknownNumber)


def is_unknown(error: BaseException) -> bool:
    """Return whether an error's message names the class of unknown numbers.

    Such an error says that a function does not support unknown numbers.
    """
    return isinstance(error, Exception) and UnknownNumber.__name__ in words_of(error)
