"""Private names of torch for tensors without data.

Such tensors have only a size, a dtype and a device. Each docstring says where torch keeps a name, and in
which of the supported versions (2.11 to 2.15) that was checked.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
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
"""The most elements of a tensor, computed from numbers of the program, whose values stay known."""

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
"""Operators that create tensors from numbers only."""
_RANDOM: Final = frozenset((_aten.random_.default, _aten.random_.to, getattr(_aten.random_, "from")))


class _ConstantConverter(FakeTensorConverter):  # type: ignore[misc]
    """torch's converter, without a bug for sparse tensors.

    torch's own converter fails to invalidate their constants (2.11 to 2.15).
    """

    def invalidate_constant_aliases(self, tensor: torch.Tensor) -> None:
        if tensor.layout is torch.strided:
            super().invalidate_constant_aliases(tensor)


class _ThreadFlag:
    """A flag of a fake mode with a separate value for each thread.

    All threads of a program share one mode, which sets a flag on itself during an operation
    (``FakeTensorMode.in_kernel_invocation``, 2.11 to 2.15).
    """

    def __init__(self) -> None:
        self._threads = threading.local()

    def __get__(self, mode: FakeTensorMode | None, _: type) -> bool:
        return bool(vars(self._threads).get(str(id(mode)), False))

    def __set__(self, mode: FakeTensorMode, value: bool) -> None:
        vars(self._threads)[str(id(mode))] = value


class _DatalessMethods:
    """The replaced methods of a ``FakeTensorMode`` for the program's tensors.

    ``FakeTensorMode`` (``torch/_subclasses/fake_tensor.py``, 2.11 to 2.15) calls ``dispatch`` and
    ``may_turn_const``; known values are in ``FakeTensor.constant``. The methods are replaced on a mode
    object, because higher-order operators have no rules for a subclass of the mode.
    """

    def __init__(self, mode: FakeTensorMode, given: Callable[[str], Number | None]) -> None:
        self._mode = mode
        self._dispatch = mode.dispatch
        self._given = given

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return the result of an operation, with its value if known or provided."""
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
            constant = func(*args, **kwargs)
            return self._mode.fake_tensor_converter.from_real_tensor(self._mode, constant, make_constant=True)
        return result


def _may_be_known(tensor: torch.Tensor) -> bool:
    """Return whether a tensor's values stay known as a constant.

    torch itself keeps the values only of tensors with one element.
    """
    is_small = tensor.layout == torch.strided and tensor.numel() <= _KNOWN_ELEMENTS
    return is_small and not isinstance(tensor, FakeTensor) and tensor.device.type == "cpu"


def _is_known(func: Any, made: torch.Tensor) -> bool:
    # Data loaders draw their seeds into an empty integer tensor, whose initial value does not matter.
    is_empty = func is _aten.empty.memory_format and (made.dim() or made.dtype is not torch.int64)
    return not is_empty and made.device.type == "cpu" and made.numel() <= _KNOWN_ELEMENTS


def without_data(given: Callable[[str], Number | None]) -> AbstractContextManager[Any]:
    """Return a context in which new tensors have no data.

    Within the context, operations compute only sizes, and existing tensors can be used. If the program needs
    a value, ``given`` is called with the name of the operation, except while Dynamo traces.

    ``module.half()`` changes parameters in place with ``swap_tensors`` (``torch/utils/__init__.py``, 2.11 to
    2.15), which refuses tensors with weak references. The mode has a weak reference to each tensor, so weak
    references are hidden from ``swap_tensors``.

    ``trace_structured`` of ``torch/_subclasses/meta_utils.py`` (2.11 to 2.15) records each tensor that Dynamo
    converts. This function is turned off, because most records about a large model would come from it.
    """
    meta_utils.trace_structured = lambda *_, **__: None
    torch.utils.weakref = SimpleNamespace(getweakrefs=lambda _: [])
    FakeTensorMode.in_kernel_invocation = _ThreadFlag()
    # Libraries that copy all attributes of tensors (``torch.distributed.checkpoint``) would copy the mode.
    FakeTensorMode.__deepcopy__ = lambda mode, _: mode
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    mode.fake_tensor_converter = _ConstantConverter()
    mode.dispatch, mode.may_turn_const = _DatalessMethods(mode, given).dispatch, _may_be_known
    entered: AbstractContextManager[Any] = mode
    return entered


def has_data(tensor: torch.Tensor) -> bool:
    """Return whether a tensor has data: it is not a ``FakeTensor``.

    ``torch/_subclasses/fake_tensor.py`` (torch 2.11 to 2.15).
    """
    return not isinstance(tensor, FakeTensor)


def patch_tensors(unknown: Callable[[], Any], unknown_array: Callable[[tuple[int, ...], Any], Any]) -> None:
    """Return ``unknown()`` to eager code that needs a number of a tensor without data.

    Code that needs a NumPy array gets ``unknown_array(shape, dtype)``.

    This patches ``item``, ``tolist``, ``__format__``, ``numpy`` and ``__array__`` of ``FakeTensor``, of which
    torch itself defines ``tolist`` (2.11 to 2.15). The patches affect only tensors of the mode of
    :func:`without_data`. Code that Dynamo generated (``output_codes`` in ``torch/_dynamo/convert_frame.py``,
    2.11 to 2.15) gets no stand-in, because it is compiled for real numbers.

    Dynamo does not see these methods while it compiles, and does not compile them (``add``,
    ``torch/_dynamo/trace_rules.py``) (torch 2.11 to 2.15).
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
    hide_from_dynamo([(FakeTensor, name, method) for name, method in ours.items()])


def hide_from_dynamo(places: Sequence[tuple[Any, str, Any]]) -> None:
    """Set attributes, but restore the original ones while Dynamo compiles.

    ``places`` are tuples of owner, name and value. torch calls ``on_compile_start``, ``on_compile_end`` and,
    in ``torch._dynamo.reset()``, ``CompilationCallbackHandler.clear`` (``torch/_dynamo/callback.py``): 2.11
    to 2.15.
    """
    from torch._dynamo import callback

    inherited = object()
    before = [(owner, name, vars(owner).get(name, inherited)) for owner, name, _ in places]

    def put() -> None:
        for owner, name, value in places:
            setattr(owner, name, value)

    def take_back() -> None:
        for owner, name, value in before:
            if value is inherited:
                delattr(owner, name)
            else:
                setattr(owner, name, value)

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
    return isinstance(getattr(tensor.fake_mode.dispatch, "__self__", None), _DatalessMethods)


def _is_generated(frame: FrameType | None) -> bool:
    from torch._dynamo.convert_frame import output_codes

    while frame is not None and frame.f_code.co_filename.startswith(torch_compat.folder()):
        frame = frame.f_back
    # The code of a graph has no file.
    return frame is None or frame.f_code in output_codes or frame.f_code.co_filename.startswith("<")


def no_value(operation: str = "item") -> BaseException:
    """Return the error to raise when an operation depends on an unknown value."""
    error: BaseException = DataDependentOutputException(operation)
    return error


def place_loaded() -> None:
    """Let ``torch.load`` put tensors without a recorded device on the CPU.

    ``torch.load`` does the same for the older file format. ``_restore_device_fake_mode``
    (``torch/_utils.py``) puts the tensors of a checkpoint on the device that their storage records
    (``_fake_device``) (torch 2.11 to 2.15).
    """
    from torch import _utils

    restore = _utils._restore_device_fake_mode

    def restore_or_cpu(tensor: torch.Tensor) -> torch.Tensor:
        storage: Any = tensor.untyped_storage()
        if storage._fake_device is None:
            storage._fake_device = "cpu"
            # ``restore`` reads this from the storage.
        return restore(tensor)

    _utils._restore_device_fake_mode = restore_or_cpu


def without_value(tensor: object) -> bool:
    """Return whether an object is a tensor with unknown values."""
    return isinstance(tensor, FakeTensor) and tensor.constant is None


def known_numbers(tensor: torch.Tensor) -> Any:
    """Return the values of a tensor as nested lists; ``None`` if they are unknown."""
    constant = getattr(tensor, "constant", None)
    if constant is None:
        return None
    with unset_fake_temporarily():
        return constant.tolist()


def tell_storages_apart() -> None:
    """Give tensors without data distinct addresses.

    Libraries compare addresses to find shared storage. ``data_ptr`` of ``UntypedStorage`` and ``FakeTensor``
    is replaced by the address of the storage object (``_cdata``, ``torch/storage.py``): 2.11 to 2.15. Calls
    from torch, which expects 0, still get 0.
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

    hide_from_dynamo([(torch.UntypedStorage, "data_ptr", storage_address), (FakeTensor, "data_ptr", address)])


def copy_tensors() -> None:
    """Let ``copy.deepcopy`` copy tensors without data.

    The copies keep known values. ``__deepcopy__`` of ``Tensor`` (``torch/_tensor.py``, 2.11 to 2.15) would
    copy a tensor without data together with its mode, and would copy a tensor with data to a tensor without
    data.
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
    """Wrap a function so that tensors which it creates have data."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with unset_fake_temporarily():
            return function(*args, **kwargs)

    return call


def needed_data(error: BaseException) -> str:
    """Return the operator that failed because the values of a tensor are unknown.

    Return an empty string for any other error. The errors are ``DataDependentOutputException`` (``x.item()``,
    ``if x:``) and ``DynamicOutputShapeException`` (``x.nonzero()``), in ``fake_tensor.py`` (2.11 to 2.15).
    """
    return str(error.func) if isinstance(error, _NEEDS_DATA) else ""


def operation(error: BaseException) -> str:
    """Return the failed operation whose result an example call can provide.

    Return an empty string for any other error.
    """
    return _OPERATIONS.get(error.func, "") if isinstance(error, _NEEDS_DATA) else ""


def _outcome(func: Any, tensor: torch.Tensor, value: Number) -> Any:
    if func is _aten.nonzero.default:
        # In torch's layout: column by column.
        return tensor.new_empty_strided((value, tensor.dim()), (1, value), dtype=torch.int64)
    if func is _aten.masked_select.default:
        return tensor.new_empty((value,))
    if tensor.dtype is torch.bool:
        return bool(value)
    return float(value) if tensor.is_floating_point() else int(value)


def graph_node(frame: FrameType, row: int) -> torch.fx.Node | None:
    """Return the node at a row of a graph's code, if ``frame`` runs such code.

    ``GraphModule._lineno_map`` (``torch/fx/graph_module.py``, 2.11 to 2.15) maps rows to nodes.
    """
    module = frame.f_locals.get("self") if frame.f_code.co_name == "forward" else None
    if not isinstance(module, torch.fx.GraphModule) or module.forward.__code__ is not frame.f_code:
        return None
    index = (module._lineno_map or {}).get(row - frame.f_code.co_firstlineno)
    return None if index is None else list(module.graph.nodes)[index]
