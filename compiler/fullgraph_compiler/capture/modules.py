"""Find modules that run by name, as with ``python -m``.

For a script in a package, also find the name under which the script can run as a module.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import CodeType

from ..facts import Stack

_MAIN = "__main__"
_NO_PACKAGE = "attempted relative import with no known parent package"
"""The import system's message for this error, which has no type or name by which to recognize it."""


class NoModuleError(Exception):
    """The error that a module does not exist or does not compile.

    The message is for the user.
    """

    def __init__(self, message: str, *hints: str, stack: Stack = ()) -> None:
        super().__init__(message)
        self.hints, self.stack = hints, stack


@dataclass(frozen=True)
class RunnableModule:
    """A module that can run as ``__main__``, with its specification, file and loader."""

    spec: ModuleSpec
    filename: str
    loader: InspectLoader

    def code(self) -> CodeType:
        """Compile the module.

        Raises the errors of ``compile``.
        """
        code = self.loader.get_code(self.spec.name)
        if code is None:
            raise ValueError(f"{self.filename} has no Python code")
        return code


def find_module(name: str, pinned: str = "") -> RunnableModule:
    """Find a module, or a package's ``__main__``, and import its parent packages.

    Raises :class:`NoModuleError` if the module does not exist or is another file than ``pinned``, and any
    error of an imported package.
    """
    spec: ModuleSpec | None = find_spec_of(name, pinned)
    assert spec is not None
    if spec.submodule_search_locations is not None:
        package, spec = name, _spec(f"{name}.{_MAIN}")
        _check_pinned(f"{package}.{_MAIN}", spec, pinned)
        if spec is None:
            raise NoModuleError(
                f"the package {package} has no file __main__.py, so it cannot run",
                "Name one of its modules.",
            )
    if spec.origin is None or not isinstance(spec.loader, InspectLoader) or not spec.has_location:
        raise NoModuleError(f"the module {name} is built into Python: there is no file to run")
    return RunnableModule(spec, spec.origin, spec.loader)


def find_spec_of(name: str, pinned: str = "") -> ModuleSpec:
    """Find a module or package, and import its parent packages.

    If ``pinned`` is given, import only packages that contain this file. Raises :class:`NoModuleError`, and
    any error of an imported package.
    """
    names = name.split(".")
    spec: ModuleSpec | None = None
    for number in range(len(names)):
        # This imports the packages around the module, which the steps before have checked.
        spec = _spec(prefix := ".".join(names[: number + 1]))
        if spec is None:
            break
        _check_pinned(prefix, spec, pinned)
    if spec is None:
        looked = f"Searched in {os.getcwd()} and in the packages installed for {sys.executable}."
        raise NoModuleError(f"there is no module {name}", looked)
    return spec


def _check_pinned(name: str, spec: ModuleSpec | None, pinned: str) -> None:
    """Check that a module is the file ``pinned``, or that a package contains it.

    Raises :class:`NoModuleError`.
    """
    if spec is None or not pinned:
        return
    file = os.path.realpath(pinned)
    places = spec.submodule_search_locations
    if places is None:
        if spec.origin is not None and os.path.realpath(spec.origin) == file:
            return
    elif any(file.startswith(os.path.join(os.path.realpath(place), "")) for place in places):
        return
    found = next(iter(places or ()), spec.origin) or "Python itself"
    raise NoModuleError(f"this interpreter imports the module {name} from {found}, not from {pinned}")


def _spec(name: str) -> ModuleSpec | None:
    """Find a module as ``python -m`` does in a new process.

    In a new process, no module with the same name is loaded yet.
    """
    loaded = getattr(sys.modules.get(name), "__spec__", None)
    if loaded is not None and loaded.has_location and "." not in name:  # not in Python's core
        spec = PathFinder.find_spec(name)
        if spec is not None and spec.submodule_search_locations is None:
            return spec
    try:
        return find_spec(name)
    except ModuleNotFoundError as error:
        # A package around the module is missing; any other name is an import that fails in a package.
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            return None
        raise
    except ValueError:
        return None  # a loaded module without a ``__spec__``


def module_hints(error: BaseException, filename: str, cwd: str) -> Iterator[str]:
    """Yield a hint if a script failed because it is in a package but ran by its path.

    The hint says how to run the script as a module.
    """
    if not isinstance(error, ImportError):
        return
    folder, parts = _name_in_package(filename, cwd)
    is_unknown = error.name == parts[0] and os.path.isfile(os.path.join(folder, parts[0], "__init__.py"))
    if any("." in part for part in parts) or (error.msg != _NO_PACKAGE and not is_unknown):
        return
    name = ".".join(parts)
    change = "" if folder == cwd else f"cd {shlex.quote(folder)} && "
    command = f"`{change}fullgraph check -m {shlex.quote(name)}`"
    setting = f"`module = {json.dumps(name)}` in pyproject.toml"
    yield f"The file belongs to the package {parts[0]}: run it as a module, {command}, or with {setting}."


def _name_in_package(filename: str, cwd: str) -> tuple[str, list[str]]:
    """Return the folder from which a file can run as a module, and its module name.

    The outermost package is the last folder, going upwards, with an ``__init__.py``. If no folder has one,
    the name starts below ``cwd``. If the file is not below ``cwd`` either, the name starts with the folder of
    the file.
    """
    path, name = os.path.split(os.path.splitext(filename)[0])
    parts = [] if name == _MAIN else [name]
    while os.path.isfile(os.path.join(path, "__init__.py")):
        path, package = os.path.split(path)
        parts.insert(0, package)
    if path == os.path.dirname(filename):  # no package has an __init__.py
        inside = os.path.relpath(path, cwd)
        above = [] if inside.startswith(os.pardir) or inside == os.curdir else inside.split(os.sep)
        above = above or [os.path.basename(path)]
        path, parts = os.path.normpath(os.path.join(path, *[os.pardir] * len(above))), [*above, *parts]
    return path, parts
