"""What a program imports, and which environment variables its own files set."""

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
_SETTERS = ("os", "_collections_abc", "collections.abc")
"""Modules that set variables for their callers: ``os.environ.update`` is a method of the second."""


class ModuleTracker:
    """Tells, step by step, what the program has imported since the tracker was made."""

    def __init__(self, program: Program) -> None:
        filename = program.node.partition("::")[0] if isinstance(program, PytestNode) else program.filename
        # A file that does not compile never gets among the modules.
        self._own_file = os.path.abspath(filename)
        self._known = set(sys.modules)
        self._filenames: set[str] = set()
        self._variables: dict[str, None] = {}
        self._seen = (0, 0)
        _watch_variables(self._variables)

    def news(self) -> list[ModulesLoaded]:
        """What is new, where a glance tells that something is."""
        return self.rest() if self._seen != (len(sys.modules), len(self._variables)) else []

    def rest(self) -> list[ModulesLoaded]:
        """What is new. Never raises: programs put all kinds of things among the modules."""
        try:
            return self._look()
        except Exception:
            traceback.print_exc()
            return []

    def _look(self) -> list[ModulesLoaded]:
        modules, variables = sys.modules.copy(), tuple(self._variables)
        new = {name: module for name, module in modules.items() if name not in self._known}
        self._known.update(new)
        files = [self._own_file] if os.path.isfile(self._own_file) else []
        files += filter(None, map(_own_source, new.values()))
        filenames = tuple(name for name in dict.fromkeys(files) if name not in self._filenames)
        libraries = tuple(name for name, module in new.items() if _is_library(name, module))
        news = bool(filenames or libraries) or len(variables) > self._seen[1]
        self._filenames.update(filenames)
        self._seen = (len(modules), len(variables))
        return [ModulesLoaded(filenames, libraries, variables)] if news else []


def own_modules() -> dict[str, ModuleType]:
    """The user's own modules by the names of their files, in the order of their import, the program last."""
    main = sys.modules.get("__main__")
    modules = [module for module in sys.modules.copy().values() if module is not main]
    found = {_own_source(module): module for module in (*modules, main) if module is not None}
    return {name: module for name, module in found.items() if name is not None}


def _watch_variables(variables: dict[str, None]) -> None:
    """Keep the names of the environment variables that the program's own files set, from now on.

    A function in place of ``os.putenv`` would show in the graph break that a call of it causes.
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
    """The source file of a module that is the user's own."""
    filename = _namespace(module).get("__file__")
    if not isinstance(filename, str) or not filename.endswith(tuple(SOURCE_SUFFIXES)):
        return None
    filename = os.path.abspath(filename)
    return filename if _is_own(filename) else None


def _is_library(name: str, module: object) -> bool:
    """Whether another process gets this module of an installed package by importing its name."""
    spec = _namespace(module).get("__spec__")
    origin = getattr(spec, "origin", None)
    return (
        isinstance(origin, str)
        and getattr(spec, "name", None) == name
        and name.partition(".")[0] != "fullgraph_compiler"
        and _is_installed(origin)
        and origin.endswith((*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES))
        and os.path.isfile(origin)
    )


def _namespace(module: object) -> dict[str, Any]:
    # A lazy module loads itself when it is asked for an attribute in the usual way.
    found: dict[str, Any] = (
        object.__getattribute__(module, "__dict__") if isinstance(module, ModuleType) else {}
    )
    return found


def _caller(frame: FrameType | None) -> FrameType | None:
    """The innermost call of code that has a file, below those that set variables for others."""
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
