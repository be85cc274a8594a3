"""Adapt common code around models that needs values, so that it runs without data."""

from __future__ import annotations

import inspect
import itertools
from functools import wraps
from typing import Any

import torch
from torch.distributions import Distribution
from torch.utils.data import DataLoader

from ..compat.fake_compat import with_data, without_value
from ..files.stand_ins import on_import, replace
from .unknown import UnknownNumber

_OBJECTS = ("all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list")


def leave_values_out() -> None:
    """Patch libraries permanently, to skip code that needs values.

    The skipped code has no effect on compiled code.
    """
    # Tensors without data cannot be sent between processes.
    _construct(
        DataLoader,
        num_workers=0,
        prefetch_factor=None,
        persistent_workers=False,
        timeout=0,
        multiprocessing_context=None,
        pin_memory=False,
    )
    torch.Tensor.pin_memory = lambda tensor, *_: tensor
    # A GradScaler reads the gradients, to skip a step if they are infinite.
    _construct(torch.amp.GradScaler, enabled=False)
    Distribution.set_default_validate_args(False)
    # This function reads values, because it redraws values that are out of bounds.
    stand_ins = [(torch.nn.init.trunc_normal_, _fill)]
    # The filter reads the loss, to leave non-finite values out of the log.
    on_import(
        "transformers.training_args",
        lambda module: _construct(module.TrainingArguments, logging_nan_inf_filter=False),
    )
    if torch.distributed.is_available():
        # Objects are sent between processes as the bytes of tensors.
        for name in _OBJECTS:
            share = getattr(torch.distributed, name)
            stand_ins.append((share, with_data(share)))
    replace(*stand_ins)
    on_import("json.encoder", _log_unknown_as_json)
    on_import("sqlite3.dbapi2", lambda module: module.register_adapter(UnknownNumber, str))
    for package in ("lightning.pytorch", "pytorch_lightning"):
        on_import(f"{package}.callbacks.model_checkpoint", _save_each)
        on_import(f"{package}.callbacks.early_stopping", _stop_never)


def _log_unknown_as_json(module: Any) -> None:
    """Write an unknown number as ``?`` in JSON, as in all other logs."""
    default = module.JSONEncoder.default

    def default_or_unknown(self: Any, value: Any) -> Any:
        return str(value) if isinstance(value, UnknownNumber) else default(self, value)

    module.JSONEncoder.default = default_or_unknown


def _save_each(module: Any) -> None:
    """Make Lightning treat each checkpoint as the best one if the metric is unknown."""
    checkpoint, number = module.ModelCheckpoint, itertools.count()
    check, update = checkpoint.check_monitor_top_k, checkpoint._update_best_and_save

    def better(self: Any, metric: Any) -> Any:
        if not without_value(metric):
            return metric
        return torch.tensor(float(next(number)) * (1 if self.mode == "max" else -1))

    def check_better(self: Any, trainer: Any, current: Any = None) -> Any:
        return check(self, trainer, better(self, current))

    def update_better(self: Any, current: Any, *args: Any) -> Any:
        return update(self, better(self, current), *args)

    checkpoint.check_monitor_top_k, checkpoint._update_best_and_save = check_better, update_better


def _stop_never(module: Any) -> None:
    """Make Lightning's early stopping continue if the metric is unknown."""
    stopping = module.EarlyStopping
    evaluate = stopping._evaluate_stopping_criteria

    def evaluate_unless_unknown(self: Any, current: Any) -> Any:
        return (False, None) if without_value(current) else evaluate(self, current)

    stopping._evaluate_stopping_criteria = evaluate_unless_unknown


def _fill(tensor: torch.Tensor, mean: float = 0.0, std: float = 1.0, *_: Any, **__: Any) -> torch.Tensor:
    return torch.nn.init.normal_(tensor, mean, std)


def _construct(cls: Any, **arguments: Any) -> None:
    """Override arguments of a class's constructor, whatever the program passes."""
    construct = cls.__init__
    signature = inspect.signature(construct)

    @wraps(construct)
    def construct_with_overrides(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.arguments.update(arguments)
        construct(*bound.args, **bound.kwargs)

    cls.__init__ = construct_with_overrides
