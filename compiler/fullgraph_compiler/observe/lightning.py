"""Find a compiled ``LightningModule``, and networks in it to compile instead."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any, Final

import torch

from ..compat import call_compat
from ..facts import ClassPlace, Network

_MODULES: Final = ("lightning.pytorch.core.module", "pytorch_lightning.core.module")
"""The names of the modules that define ``LightningModule``, one for each package."""


def lightning_of(
    module: torch.nn.Module | None,
) -> tuple[tuple[ClassPlace, ...], tuple[Network, ...]] | None:
    """Return a ``LightningModule``'s own classes, and the networks in it.

    ``None`` if the module is not a ``LightningModule``. A network is a callable child module that has
    parameters, is not a single module of torch, is not compiled yet, and has no reference to the
    ``LightningModule``.
    """
    classes = [] if module is None else list(_classes(type(module)))
    if module is None or not classes:
        return None
    known = {id(module), id(vars(module).get("_trainer", module))}
    networks = (
        Network(name, call_compat.compiles_in_place(child))
        for name, child in module.named_children()
        if _is_network(child, known)
    )
    return tuple(classes), tuple(networks)


def _classes(cls: type) -> Iterator[ClassPlace]:
    """Yield a class and its bases up to, but without, ``LightningModule``.

    Yield nothing if the class does not inherit from ``LightningModule``.
    """
    names = [(base.__module__, base.__name__) for base in cls.__mro__]
    end = next(
        (i for i, (file, name) in enumerate(names) if name == "LightningModule" and file in _MODULES), 0
    )
    for file, name in names[:end]:
        yield ClassPlace(str(getattr(sys.modules.get(file), "__file__", None) or ""), name)


def _is_network(module: torch.nn.Module, around: set[int]) -> bool:
    return (
        not isinstance(module, torch.jit.ScriptModule)
        and any(True for _ in module.parameters())
        and type(module).forward is not torch.nn.Module.forward
        and (any(True for _ in module.children()) or not call_compat.is_torchs_own(module))
        and not call_compat.is_compiled(module)
        and not any(_knows(value, around) for part in module.modules() for value in vars(part).values())
    )


def _knows(value: Any, around: set[int]) -> bool:
    """Return whether a value is an object in ``around``, or refers directly to one."""
    return id(value) in around or any(id(item) in around for item in gc.get_referents(value))
