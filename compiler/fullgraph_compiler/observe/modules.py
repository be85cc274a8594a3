"""Track the modules that a program imports, and the variables that it sets.

The variables are environment variables.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import traceback
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from types import FrameType, ModuleType
from typing import Any

from ..facts import ModulesLoaded, Program, PytestNode

_INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]")
_OURS = ("fullgraph_compiler", "fullgraph_server", "fullgraph_pytest")
"""Fullgraph's own packages. The pytest plugin is among them because every run of a test imports it."""
_GENERATED = ("torch", "triton")
"""Packages with generated submodules: those whose files are outside of the package's folder."""
_SETTERS = ("os", "_collections_abc", "collections.abc")
"""Modules that set variables for their callers; ``os.environ.update`` is in ``_collections_abc``."""


class ModuleTracker:
    """A tracker of the modules imported and the variables set since its creation."""

    def __init__(self, program: Program) -> None:
        filename = program.node.partition("::")[0] if isinstance(program, PytestNode) else program.filename
        # A file that does not compile never appears in ``sys.modules``.
        self._own_file = os.path.abspath(filename)
        self._recorded = set(sys.modules)
        self._filenames: set[str] = set()
        self._variables: dict[str, None] = {}
        self._seen = (0, 0)
        _watch_variables(self._variables)

    def news(self) -> list[ModulesLoaded]:
        """Return the changes since the last call, if a cheap check shows any."""
        return self.rest() if self._seen != (len(sys.modules), len(self._variables)) else []

    def rest(self) -> list[ModulesLoaded]:
        """Return the changes since the last call.

        Never raises, whatever ``sys.modules`` contains.
        """
        try:
            return self._look()
        except Exception:
            traceback.print_exc()
            return []

    def _look(self) -> list[ModulesLoaded]:
        modules, variables = sys.modules.copy(), tuple(self._variables)
        new = {name: module for name, module in modules.items() if name not in self._recorded}
        self._recorded.update(new)
        files = [self._own_file] if os.path.isfile(self._own_file) else []
        # A module that runs as `__main__` may be another file than the expected one.
        files += filter(None, map(_own_source, (modules.get("__main__"), *new.values())))
        filenames = tuple(name for name in dict.fromkeys(files) if name not in self._filenames)
        libraries = tuple(name for name, module in new.items() if _is_library(name, module))
        news = bool(filenames or libraries) or len(variables) > self._seen[1]
        self._filenames.update(filenames)
        self._seen = (len(modules), len(variables))
        return [ModulesLoaded(filenames, libraries, variables)] if news else []


def own_modules() -> dict[str, ModuleType]:
    """Return the user's own modules by filename, in the order of their import.

    ``__main__`` is the last.
    """
    main = sys.modules.get("__main__")
    modules = [module for module in sys.modules.copy().values() if module is not main]
    by_file = {_own_source(module): module for module in (*modules, main) if module is not None}
    return {name: module for name, module in by_file.items() if name is not None}


def _watch_variables(variables: dict[str, None]) -> None:
    """Record the environment variables that the program's own files set from now on.

    This uses an audit hook: a replacement of ``os.putenv`` would appear in graph breaks at its calls.
    """

    # Called for tens of thousands of events: a bound method takes three times as long.
    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("os.putenv", "os.unsetenv"):
            return
        caller = _caller(sys._getframe().f_back)
        if caller is not None and _is_own(caller.f_code.co_filename):
            variables[os.fsdecode(arguments[0])] = None

    sys.addaudithook(audit)


def _own_source(module: object) -> str | None:
    """Return the source file of a module of the user; ``None`` for other modules."""
    namespace = _namespace(module)
    filename = namespace.get("__file__")
    if not isinstance(filename, str) or not filename.endswith(tuple(SOURCE_SUFFIXES)):
        return None
    if str(namespace.get("__name__")).partition(".")[0] in (*_OURS, *_GENERATED):
        return None
    filename = os.path.abspath(filename)
    return filename if _is_own(filename) else None


def _is_library(name: str, module: object) -> bool:
    """Return whether a module belongs to an installed package.

    Another process can import such a module by name.
    """
    spec = _namespace(module).get("__spec__")
    origin = getattr(spec, "origin", None)
    return (
        isinstance(origin, str)
        and getattr(spec, "name", None) == name
        and name.partition(".")[0] not in _OURS
        and _is_installed(origin)
        and origin.endswith((*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES))
        and os.path.isfile(origin)
    )


def _namespace(module: object) -> dict[str, Any]:
    # A lazy module loads itself at an ordinary access of an attribute. Objects of cffi claim to be modules,
    # but have no namespace.
    if not isinstance(module, ModuleType):
        return {}
    try:
        namespace: dict[str, Any] = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return {}
    return namespace


def _caller(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame, from ``frame`` outwards, of code in a file.

    Frames of modules that set variables for their callers are skipped.
    """
    while frame is not None and (
        frame.f_globals.get("__name__") in _SETTERS or frame.f_code.co_filename.startswith("<")
    ):
        frame = frame.f_back
    return frame


def _is_installed(filename: str) -> bool:
    return bool(_INSTALLED.search(filename)) or os.path.normcase(filename).startswith(_PACKAGES)


def _is_own(filename: str) -> bool:
    return not _is_installed(filename) and not os.path.normcase(filename).startswith(_MACHINERY)


def _folders(*names: str) -> tuple[str, ...]:
    folders = {path for name in names for path in (name, os.path.realpath(name))}
    return tuple(os.path.join(os.path.normcase(folder), "") for folder in folders)


_PACKAGES = _folders(sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
_MACHINERY = _folders(
    sysconfig.get_path("stdlib"),
    sysconfig.get_path("platstdlib"),
    os.path.dirname(os.path.dirname(__file__)),
)
