"""What programs around a model need values for, and can do without."""

from __future__ import annotations

import inspect
import itertools
from functools import wraps
from typing import Any

import torch
from torch.distributions import Distribution
from torch.utils.data import DataLoader

from ..compat.fake_compat import with_data, without_value
from ..compat.stand_ins import on_import, replace
from .unknown import UnknownNumber

_OBJECTS = ("all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list")


def leave_values_out() -> None:
    """Leave out from here on, for good, what needs values and changes nothing that is compiled."""
    # Tensors without data do not go from process to process.
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
    # Whether a step is left out for infinite gradients is decided by them.
    _construct(torch.amp.GradScaler, enabled=False)
    Distribution.set_default_validate_args(False)
    # It draws again what lies outside of the bounds.
    replace(torch.nn.init.trunc_normal_, _fill)
    # A loss that is not finite is left out of the log.
    on_import(
        "transformers.training_args",
        lambda module: _construct(module.TrainingArguments, logging_nan_inf_filter=False),
    )
    if torch.distributed.is_available():
        # Objects go from process to process as the bytes of tensors.
        for name in _OBJECTS:
            share = getattr(torch.distributed, name)
            replace(share, with_data(share))
    on_import("json.encoder", _log_unknown_as_json)
    on_import("sqlite3.dbapi2", lambda module: module.register_adapter(UnknownNumber, str))
    for package in ("lightning.pytorch", "pytorch_lightning"):
        on_import(f"{package}.callbacks.model_checkpoint", _save_each)
        on_import(f"{package}.callbacks.early_stopping", _stop_never)


def _log_unknown_as_json(module: Any) -> None:
    """Have a number that nobody knows read ``?`` in JSON, as in any other log."""
    default = module.JSONEncoder.default

    def default_or_unknown(self: Any, value: Any) -> Any:
        return str(value) if isinstance(value, UnknownNumber) else default(self, value)

    module.JSONEncoder.default = default_or_unknown


def _save_each(module: Any) -> None:
    """Have Lightning take a checkpoint for the best one so far where nobody knows how good it is."""
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
    """Have Lightning go on where nobody knows whether a metric still becomes better."""
    stopping = module.EarlyStopping
    evaluate = stopping._evaluate_stopping_criteria

    def evaluate_known(self: Any, current: Any) -> Any:
        return (False, None) if without_value(current) else evaluate(self, current)

    stopping._evaluate_stopping_criteria = evaluate_known


def _fill(tensor: torch.Tensor, mean: float = 0.0, std: float = 1.0, *_: Any, **__: Any) -> torch.Tensor:
    return torch.nn.init.normal_(tensor, mean, std)


def _construct(cls: Any, **arguments: Any) -> None:
    """Have a class constructed with these arguments, whatever the program says."""
    construct = cls.__init__
    signature = inspect.signature(construct)

    @wraps(construct)
    def construct_so(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.arguments.update(arguments)
        construct(*bound.args, **bound.kwargs)

    cls.__init__ = construct_so
