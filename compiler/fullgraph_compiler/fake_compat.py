"""The private names of torch behind tensors without data, which know their size, type and device only.

As :mod:`.torch_compat`: each entry says where torch keeps it and in which of the supported versions (2.11 to
2.15) it was read.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


def without_data() -> AbstractContextManager[Any]:
    """While it is on, every tensor that is made has no data, and operations compute sizes alone.

    ``FakeTensorMode`` in ``torch/_subclasses/fake_tensor.py`` (2.11 to 2.15). Tensors that were there
    before may be used.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode: AbstractContextManager[Any] = FakeTensorMode(allow_non_fake_inputs=True)
    return mode


def needed_data(error: BaseException) -> str:
    """The operator that needed what is in a tensor, if that is why it failed; else empty.

    ``DataDependentOutputException`` (``x.item()``, ``if x:``) and ``DynamicOutputShapeException``
    (``x.nonzero()``), in the same file (2.11 to 2.15).
    """
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

    if isinstance(error, (DataDependentOutputException, DynamicOutputShapeException)):
        return str(error.func)
    return ""
