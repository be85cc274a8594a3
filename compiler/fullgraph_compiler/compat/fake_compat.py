"""The private names of torch behind tensors without data, which know their size, type and device only.

As :mod:`.torch_compat`: each entry says where torch keeps it and in which of the supported versions (2.11 to
2.15) it was read.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from types import FrameType, SimpleNamespace
from typing import Any, Final, TypeAlias

import torch
import torch.utils
from torch._guards import TracingContext
from torch._subclasses import meta_utils
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorConverter,
    FakeTensorMode,
    unset_fake_temporarily,
)

from . import torch_compat

Number: TypeAlias = "int | float | bool"

_NEEDS_DATA = (DataDependentOutputException, DynamicOutputShapeException)
_ALIGNMENT: Final = 64
_KNOWN_ELEMENTS: Final = 2**21
"""A tensor that follows from numbers of the program alone is known up to this size."""

_aten = torch.ops.aten
_OPERATIONS: Final = {
    _aten._local_scalar_dense.default: "item",
    _aten.nonzero.default: "nonzero",
    _aten.masked_select.default: "masked_select",
}
_KNOWN: Final = frozenset(
    (
        _aten.arange.default,
        _aten.arange.start,
        _aten.arange.start_step,
        _aten.empty.memory_format,
        _aten.eye.default,
        _aten.full.default,
        _aten.linspace.default,
        _aten.ones.default,
        _aten.randperm.default,
        _aten.randperm.generator,
        _aten.scalar_tensor.default,
        _aten.zeros.default,
    )
)
"""What makes a tensor of numbers alone."""
_RANDOM: Final = frozenset((_aten.random_.default, _aten.random_.to, getattr(_aten.random_, "from")))


class _Converter(FakeTensorConverter):  # type: ignore[misc]
    """That of torch, where it cannot tell that what is known became a sparse tensor (2.11 to 2.15)."""

    def invalidate_constant_aliases(self, tensor: torch.Tensor) -> None:
        if tensor.layout is torch.strided:
            super().invalidate_constant_aliases(tensor)


class _OfThread:
    """A flag of a mode that each thread sets for itself.

    Threads of one program work beside each other in one mode, which notes on itself that it is within an
    operation (``FakeTensorMode.in_kernel_invocation``, 2.11 to 2.15).
    """

    def __init__(self) -> None:
        self._threads = threading.local()

    def __get__(self, mode: FakeTensorMode | None, _: type) -> bool:
        return bool(vars(self._threads).get(str(id(mode)), False))

    def __set__(self, mode: FakeTensorMode, value: bool) -> None:
        vars(self._threads)[str(id(mode))] = value


class _Run:
    """What a mode without data does otherwise than torch's.

    ``FakeTensorMode`` in ``torch/_subclasses/fake_tensor.py`` (2.11 to 2.15), with three methods that it
    calls: ``dispatch``, ``may_turn_const`` and, for what is known, ``FakeTensor.constant``. They are put on
    one object: higher-order operators have no rules for a class of ours.
    """

    def __init__(self, mode: FakeTensorMode, given: Callable[[str], Number | None]) -> None:
        self._mode = mode
        self._dispatch = mode.dispatch
        self._given = given

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The outcome of an operation."""
        kwargs = kwargs or {}
        if func in _RANDOM and args[0].constant is not None:
            func(args[0].constant, *args[1:], **kwargs)
            return args[0]
        try:
            result = self._dispatch(func, types, args, kwargs)
        except _NEEDS_DATA:
            value = self._given(_OPERATIONS.get(func, "")) if TracingContext.try_get() is None else None
            if value is None:
                raise
            return _outcome(func, args[0], value)
        if func in _KNOWN and _is_known(func, result):
            known = func(*args, **kwargs)
            return self._mode.fake_tensor_converter.from_real_tensor(self._mode, known, make_constant=True)
        return result


def _may_be_known(tensor: torch.Tensor) -> bool:
    """Whether a tensor is kept as it is known; torch by itself does that for one element."""
    is_small = tensor.layout == torch.strided and tensor.numel() <= _KNOWN_ELEMENTS
    return is_small and not isinstance(tensor, FakeTensor) and tensor.device.type == "cpu"


def _is_known(func: Any, made: torch.Tensor) -> bool:
    # Data loaders draw their seeds in the place of an integer: any number is as good.
    is_empty = func is _aten.empty.memory_format and (made.dim() or made.dtype is not torch.int64)
    return not is_empty and made.device.type == "cpu" and made.numel() <= _KNOWN_ELEMENTS


def without_data(given: Callable[[str], Number | None]) -> AbstractContextManager[Any]:
    """Run without data from here on: each tensor that is made has none, and operations compute sizes alone.

    Tensors that were there before may be used. Where the program needs a value, ``given`` is asked for it
    with the name of the operation; Dynamo gets none while it traces.

    ``swap_tensors`` (``torch/utils/__init__.py``, 2.11 to 2.15), by which ``module.half()`` changes
    parameters in place, refuses those that somebody has a weak reference to, as the mode has to all.

    ``trace_structured`` of ``torch/_subclasses/meta_utils.py`` (2.11 to 2.15) describes each tensor that
    Dynamo makes another of, for logs only: of a large model, these are most of the records.
    """
    meta_utils.trace_structured = lambda *_, **__: None
    torch.utils.weakref = SimpleNamespace(getweakrefs=lambda _: [])
    FakeTensorMode.in_kernel_invocation = _OfThread()
    # Libraries that copy all that tensors have (``torch.distributed.checkpoint``) would copy the mode.
    FakeTensorMode.__deepcopy__ = lambda mode, _: mode
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    mode.fake_tensor_converter = _Converter()
    mode.dispatch, mode.may_turn_const = _Run(mode, given).dispatch, _may_be_known
    entered: AbstractContextManager[Any] = mode
    return entered


def has_data(tensor: torch.Tensor) -> bool:
    """Whether there is anything in a tensor: ``FakeTensor``, in the same file (2.11 to 2.15)."""
    return not isinstance(tensor, FakeTensor)


def patch_tensors(unknown: Callable[[], Any], unknown_array: Callable[[tuple[int, ...], Any], Any]) -> None:
    """Have eager code go on with ``unknown()`` where it asks a tensor for a number that nobody knows.

    In the place of an array it gets ``unknown_array()`` of its shape and of the type of its elements.

    ``item``, ``tolist``, ``__format__``, ``numpy`` and ``__array__`` of ``FakeTensor``, of which torch has
    ``tolist`` (2.11 to 2.15), for tensors of this mode only. What Dynamo generated (``output_codes`` in
    ``torch/_dynamo/convert_frame.py``, 2.11 to 2.15) gets none: it would be compiled for something else.

    Dynamo neither sees these methods while it compiles, nor compiles them (``add``,
    ``torch/_dynamo/trace_rules.py``): 2.11 to 2.15.
    """
    from torch._dynamo import trace_rules

    for room in ("compat", "dry_run", "observe"):
        trace_rules.add(f"{__name__.partition('.')[0]}.{room}")
    item, tolist, numpy, text = FakeTensor.item, FakeTensor.tolist, FakeTensor.numpy, FakeTensor.__format__
    array = FakeTensor.__array__

    def item_or_unknown(self: FakeTensor) -> Any:
        try:
            return item(self)
        except _NEEDS_DATA:
            if _is_of_run(self) and self.dtype is not torch.bool and not _is_generated(sys._getframe(1)):
                return unknown()
            raise

    def list_of_known(self: FakeTensor) -> Any:
        return tolist(self) if self.constant is None else self.constant.tolist()

    def array_of_known(self: FakeTensor, *, force: bool = False) -> Any:
        if not _is_of_run(self):
            return numpy(self, force=force)
        with unset_fake_temporarily():
            if self.constant is not None:
                return self.constant.clone().numpy()
            dtype = torch.empty(0, dtype=self.dtype).numpy().dtype
        return unknown_array(tuple(self.shape), dtype)

    def array_alone(self: FakeTensor, dtype: Any = None) -> Any:
        if _is_of_run(self) and self.constant is None:
            raise DataDependentOutputException("numpy")
        return array(self, dtype)

    def format_number(self: FakeTensor, spec: str) -> str:
        if self.dim() or not _is_of_run(self):
            return str(text(self, spec))
        return "?" if without_value(self) else format(self.item(), spec)

    ours = {
        "item": item_or_unknown,
        "tolist": list_of_known,
        "numpy": array_of_known,
        "__array__": array_alone,
        "__format__": format_number,
    }

    def put() -> None:
        for name, method in ours.items():
            setattr(FakeTensor, name, method)

    def take_back() -> None:
        for name in ours:
            delattr(FakeTensor, name)
        FakeTensor.tolist = tolist

    hide_from_dynamo(put, take_back)


def hide_from_dynamo(put: Callable[[], None], take_back: Callable[[], None]) -> None:
    """Have what ``put`` puts in the place of other things there, but while Dynamo compiles.

    ``on_compile_start``, ``on_compile_end`` and ``CompilationCallbackHandler.clear``, which
    ``torch._dynamo.reset()`` calls (``torch/_dynamo/callback.py``): 2.11 to 2.15.
    """
    from torch._dynamo import callback

    def register() -> None:
        callback.on_compile_start(lambda _: take_back())
        callback.on_compile_end(lambda _: put())

    def clear_others() -> None:
        clear()
        register()

    put()
    register()
    clear, callback.callback_handler.clear = callback.callback_handler.clear, clear_others


def _is_of_run(tensor: FakeTensor) -> bool:
    return isinstance(getattr(tensor.fake_mode.dispatch, "__self__", None), _Run)


def _is_generated(frame: FrameType | None) -> bool:
    from torch._dynamo.convert_frame import output_codes

    while frame is not None and frame.f_code.co_filename.startswith(torch_compat.folder()):
        frame = frame.f_back
    # The code of a graph has no file.
    return frame is None or frame.f_code in output_codes or frame.f_code.co_filename.startswith("<")


def no_value(operation: str = "item") -> BaseException:
    """What is raised where something hangs on a number that nobody knows."""
    error: BaseException = DataDependentOutputException(operation)
    return error


def place_loaded() -> None:
    """Have ``torch.load`` put what it has no place for on the CPU, as where the file is of the older format.

    ``_restore_device_fake_mode`` in ``torch/_utils.py`` gives the tensors of a checkpoint the device that is
    noted on their storage (``_fake_device``): 2.11 to 2.15.
    """
    from torch import _utils

    restore = _utils._restore_device_fake_mode

    def restore_or_cpu(tensor: torch.Tensor) -> torch.Tensor:
        storage: Any = tensor.untyped_storage()
        if storage._fake_device is None:
            storage._fake_device = "cpu"
            # For `restore`, which asks the tensor for its storage anew.
        return restore(tensor)

    _utils._restore_device_fake_mode = restore_or_cpu


def without_value(tensor: object) -> bool:
    """Whether something is a tensor of which nobody knows what is in it."""
    return isinstance(tensor, FakeTensor) and tensor.constant is None


def known_numbers(tensor: torch.Tensor) -> Any:
    """What is in a tensor of which that is known, as nested lists; else ``None``."""
    constant = getattr(tensor, "constant", None)
    if constant is None:
        return None
    with unset_fake_temporarily():
        return constant.tolist()


def tell_storages_apart() -> None:
    """Give tensors without data addresses by which they differ, for libraries that look for shared ones.

    ``data_ptr`` of ``UntypedStorage`` and ``FakeTensor``, and the address of a storage's object (``_cdata``,
    ``torch/storage.py``): 2.11 to 2.15. For torch itself the address stays 0: it knows what that means.
    """
    of_storage = torch.UntypedStorage.data_ptr

    def is_asked_by_torch() -> bool:
        return sys._getframe(2).f_code.co_filename.startswith(torch_compat.folder())

    def storage_address(storage: torch.UntypedStorage) -> int:
        if storage.device.type != "meta" or is_asked_by_torch():
            return int(of_storage(storage))
        return int(storage._cdata) * _ALIGNMENT

    def address(tensor: FakeTensor) -> int:
        if is_asked_by_torch():
            return 0
        offset = tensor.storage_offset() * tensor.element_size()
        return int(tensor.untyped_storage()._cdata) * _ALIGNMENT + int(offset)

    def put() -> None:
        torch.UntypedStorage.data_ptr, FakeTensor.data_ptr = storage_address, address

    def take_back() -> None:
        torch.UntypedStorage.data_ptr = of_storage
        del FakeTensor.data_ptr

    hide_from_dynamo(put, take_back)


def copy_tensors() -> None:
    """Have ``copy.deepcopy`` copy tensors with what is known of them.

    ``__deepcopy__`` of ``Tensor`` (``torch/_tensor.py``, 2.11 to 2.15) copies a tensor without data with its
    mode and all that belongs to it, and puts the storage of one with data into one without.
    """
    real = torch.Tensor.__deepcopy__

    def deep_copy(tensor: torch.Tensor, memo: dict[int, Any]) -> Any:
        if not isinstance(tensor, FakeTensor):
            with unset_fake_temporarily():
                return real(tensor, memo)
        if not _is_of_run(tensor) or not tensor.is_leaf or id(tensor) in memo:
            return real(tensor, memo)
        copied = memo[id(tensor)] = tensor.detach().clone().requires_grad_(tensor.requires_grad)
        return copied

    torch.Tensor.__deepcopy__ = deep_copy


def with_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, in which tensors that are made have data."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with unset_fake_temporarily():
            return function(*args, **kwargs)

    return call


def needed_data(error: BaseException) -> str:
    """The operator that needed what is in a tensor, if that is why it failed; else empty.

    ``DataDependentOutputException`` (``x.item()``, ``if x:``) and ``DynamicOutputShapeException``
    (``x.nonzero()``), in the same file (2.11 to 2.15).
    """
    return str(error.func) if isinstance(error, _NEEDS_DATA) else ""


def operation(error: BaseException) -> str:
    """The operation whose outcome could be given in the place of ``error``, else empty."""
    return _OPERATIONS.get(error.func, "") if isinstance(error, _NEEDS_DATA) else ""


def _outcome(func: Any, tensor: torch.Tensor, value: Number) -> Any:
    if func is _aten.nonzero.default:
        # As torch lays it out: one column after the other.
        return tensor.new_empty_strided((value, tensor.dim()), (1, value), dtype=torch.int64)
    if func is _aten.masked_select.default:
        return tensor.new_empty((value,))
    if tensor.dtype is torch.bool:
        return bool(value)
    return float(value) if tensor.is_floating_point() else int(value)


def graph_node(frame: FrameType, row: int) -> torch.fx.Node | None:
    """The operation at a row of a graph's code, if ``frame`` runs one.

    ``GraphModule._lineno_map`` (``torch/fx/graph_module.py``, 2.11 to 2.15).
    """
    module = frame.f_locals.get("self") if frame.f_code.co_name == "forward" else None
    if not isinstance(module, torch.fx.GraphModule) or module.forward.__code__ is not frame.f_code:
        return None
    index = (module._lineno_map or {}).get(row - frame.f_code.co_firstlineno)
    return None if index is None else list(module.graph.nodes)[index]
