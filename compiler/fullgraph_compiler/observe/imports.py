"""Wait for a module that the program imports: what is set up before may be needed for its import."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def call_after_import(name: str, call: Callable[[], None]) -> None:
    """Call once the module has been imported: at once if it is loaded."""
    if name in sys.modules:
        call()
    else:
        sys.meta_path.insert(0, _Waiting(name, call))


class _Waiting(MetaPathFinder):
    """A finder that finds nothing itself: it leaves the search to the others, and adds a call to the load."""

    def __init__(self, name: str, call: Callable[[], None]) -> None:
        self._name = name
        self._call = call

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module as if this were not here, once."""
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        loader = spec.loader if spec else None
        if loader is not None and hasattr(loader, "exec_module"):
            execute = loader.exec_module

            def execute_and_call(module: ModuleType) -> None:
                del loader.exec_module  # the method of its class again
                execute(module)
                self._call()

            loader.exec_module = execute_and_call  # type: ignore[method-assign]
        return spec
