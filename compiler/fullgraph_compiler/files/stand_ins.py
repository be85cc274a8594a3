"""Replace functions of libraries in all modules, now or at import."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def replace(*pairs: tuple[Any, Any]) -> None:
    """Replace functions in all modules, whatever their names there.

    Each pair is a function and its stand-in.
    """
    # Modules have many names, so all functions are replaced in one pass.
    stand_ins = {id(function): stand_in for function, stand_in in pairs}
    for module in tuple(sys.modules.values()):
        namespace = getattr(module, "__dict__", {})
        for name, known in [
            (name, id(value)) for name, value in tuple(namespace.items()) if id(value) in stand_ins
        ]:
            setattr(module, name, stand_ins[known])


def on_import(name: str, act: Callable[[ModuleType], None]) -> None:
    """Call ``act`` with a module after its import; at once if already imported."""
    if name in sys.modules:
        act(sys.modules[name])
    else:
        sys.meta_path.insert(0, _ImportWatch(name, act))


class _ImportWatch(MetaPathFinder):
    def __init__(self, name: str, act: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._act = act

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        spec.loader = _CallbackLoader(spec.loader, self._act)  # type: ignore[assignment]
        return spec


class _CallbackLoader:
    """A loader that calls ``act`` after the real loader has run.

    The module's ``__loader__`` is the real loader.
    """

    def __init__(self, loader: Any, act: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._act = act

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module with the real loader, then call ``act`` with the module."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._act(module)
