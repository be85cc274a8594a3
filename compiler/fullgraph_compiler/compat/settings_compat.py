"""torch's configuration: the program's changes, and Fullgraph's settings.

Each docstring says where torch keeps a name, and in which of the supported versions (2.11 to 2.15) that was
checked.
"""

from __future__ import annotations

from typing import Any

import torch


def forget_between_runs() -> None:
    """Turn off torch's profiles of dynamic sizes from earlier runs.

    The profiles would hide recompilations (``config.py``).
    """
    import torch._dynamo.config as config

    config.automatic_dynamic_local_pgo = False
    config.automatic_dynamic_remote_pgo = False


def changed_settings() -> tuple[str, ...]:
    """Return assignments for all settings of torch that differ from their defaults.

    ``codegen_config`` of the configuration modules (``torch/utils/_config_module.py``) also lists settings
    that were changed and changed back; ``_config`` has the defaults (torch 2.11 to 2.15).
    """
    import torch._dynamo.config
    import torch._functorch.config
    import torch._inductor.config

    def is_changed(module: Any, line: str) -> bool:
        name = line.partition(" = ")[0].removeprefix(f"{module.__name__}.")
        return name in module._config and getattr(module, name) != module._config[name].default

    modules = (torch._dynamo.config, torch._functorch.config, torch._inductor.config)
    lines = ((module, line) for module in modules for line in module.codegen_config().splitlines())
    return tuple(line for module, line in lines if is_changed(module, line))


def default_of(name: str) -> str:
    """Return torch's default of a setting as text; empty if unknown.

    The setting is named as in :func:`pin_settings`. ``_config`` of the configuration modules
    (``torch/utils/_config_module.py``) has the default (torch 2.11 to 2.15).
    """
    import importlib

    place, _, path = name.partition(".config.")
    entry = importlib.import_module(f"{place}.config")._config.get(path)
    default = entry.default if entry is not None else None
    return repr(default) if isinstance(default, (bool, int, float, str)) else ""


def force_dynamo_settings(settings: dict[str, Any]) -> None:
    """Set settings of Dynamo so that nothing can override them.

    Neither the program nor an argument of ``torch.compile`` can. torch reads ``env_value_force``
    (``torch/utils/_config_module.py``) first; for some settings, environment variables set this attribute:
    2.11 to 2.15.
    """
    import torch._dynamo.config as config

    for name, value in settings.items():
        config._config[name].env_value_force = value


def pin_settings(settings: dict[str, Any]) -> None:
    """Set torch's settings, and let them override ``mode`` and ``options``.

    ``mode=...`` and ``options=...`` are arguments of ``torch.compile``. Settings are named like
    ``torch._inductor.config.triton.cudagraphs``. ``apply_options`` of ``torch._TorchCompileInductorWrapper``
    stores the settings of mode and options in its ``config`` (torch 2.11 to 2.15).
    """
    import importlib

    for name, value in settings.items():
        place, _, path = name.partition(".config.")
        *outer, last = path.split(".")
        owner: Any = importlib.import_module(f"{place}.config")
        for part in outer:
            owner = getattr(owner, part)
        setattr(owner, last, value)
    wrapper = torch._TorchCompileInductorWrapper
    apply = wrapper.apply_options

    def apply_others(self: Any, options: Any) -> None:
        apply(self, options)
        for name in settings:
            self.config.pop(name.removeprefix("torch._inductor.config."), None)

    wrapper.apply_options = apply_others
