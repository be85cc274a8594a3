"""Targets of ``.vscode/launch.json``: the programs that debugpy would start."""

from __future__ import annotations

import json
import logging
import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fullgraph_compiler.facts import Script

from ..programs import module_file, no_module
from ..source import read_bytes
from ..targets import LAUNCH, Target
from .env_file import read_env_file
from .jsonc import read_jsonc
from .variables import LaunchVariables, VariableError

_log = logging.getLogger(__name__)

_DEBUGGERS = ("debugpy", "python")
_SYSTEM = {"linux": "linux", "darwin": "osx", "win32": "windows"}.get(sys.platform, "")
_SELECTED = "${command:python.interpreterPath}"
_ENV_FILE = "${workspaceFolder}/.env"


class LaunchError(Exception):
    """Raised if a launch configuration is missing or cannot run here.

    The exception's text is a sentence for the user.
    """


@dataclass(frozen=True)
class _LaunchFile:
    """The configurations of a launch.json by name, and the names in each compound."""

    configurations: Mapping[str, Mapping[str, Any]]
    compounds: Mapping[str, Sequence[str]]


def launch_path(root: Path) -> Path:
    """Return the path of a folder's launch.json."""
    return root / ".vscode" / "launch.json"


def launch_targets(root: Path) -> tuple[Target, ...]:
    """Return the targets of a folder's launch configurations.

    Configurations that cannot run are logged and skipped.
    """
    if not os.path.exists(launch_path(root)):
        return ()
    try:
        launch = _read(root)
    except LaunchError as error:
        _complain(root, str(error))
        return ()
    targets, variables = [], LaunchVariables(root)
    for name, configuration in launch.configurations.items():
        if not _why_not(configuration):
            try:
                targets.append(_target(name, configuration, root, variables))
            except LaunchError as error:
                _complain(root, str(error))
    return tuple(targets)


def launch_target(root: Path, name: str, file: Path | None = None) -> Target:
    """Return the target of a launch configuration.

    ``file`` is the file in the editor, for variables such as ``${file}``. Raises :class:`LaunchError`.
    """
    launch = _read(root)
    configuration = launch.configurations.get(name)
    if configuration is None:
        raise LaunchError(_missing(name, launch))
    if reason := _why_not(configuration):
        raise LaunchError(f"The launch configuration {name} {reason}.")
    variables = LaunchVariables(root, file)
    target = _target(name, configuration, root, variables)
    if file and not variables.about_file:
        raise LaunchError(f"The launch configuration {name} is not about a file: leave out {file}.")
    return target


@lru_cache(maxsize=256)
def _complain(root: Path, message: str) -> None:
    """Log a message; because of the cache, each message is logged only once."""
    _log.info("%s: %s", launch_path(root), message)


def _read(root: Path) -> _LaunchFile:
    path = launch_path(root)
    try:
        return _parsed(read_bytes(str(path)).decode("utf-8-sig"))
    except FileNotFoundError:
        raise LaunchError(f"There is no file {path}.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise LaunchError(f"{path} cannot be read: {_reason(error)}.") from error


@lru_cache(maxsize=16)
def _parsed(text: str) -> _LaunchFile:
    document = read_jsonc(text)
    parts = document if isinstance(document, dict) else {}
    compounds = _by_name(parts.get("compounds"))
    return _LaunchFile(
        _by_name(parts.get("configurations")),
        {name: _names(compound.get("configurations")) for name, compound in compounds.items()},
    )


def _by_name(items: Any) -> dict[str, Mapping[str, Any]]:
    named: dict[str, Mapping[str, Any]] = {}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(item.get("name"), str) and item["name"]:
            named.setdefault(item["name"], {**item, **_own_system(item)})
    return named


def _names(parts: Any) -> list[str]:
    """Return the names of a compound's configurations.

    Names of configurations in other folders (``{name, folder}``) are included.
    """
    items = parts if isinstance(parts, list) else ()
    return [str(item.get("name") if isinstance(item, dict) else item) for item in items]


def _own_system(configuration: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a configuration that applies only to this operating system."""
    own = configuration.get(_SYSTEM)
    return own if isinstance(own, dict) else {}


def _why_not(configuration: Mapping[str, Any]) -> str:
    """Return why a configuration does not start a Python program; "" if it does."""
    kind, request = configuration.get("type"), configuration.get("request")
    if kind not in _DEBUGGERS:
        return f"is of the type {kind}: only configurations of the type debugpy can run"
    if request == "attach":
        return "attaches to a running program: only configurations with the request launch can run"
    return "" if request == "launch" else "does not have the request launch: it cannot run"


def _missing(name: str, launch: _LaunchFile) -> str:
    if name in launch.compounds:
        parts = _listed(launch.compounds[name])
        how = f"name one of its configurations, {parts}" if parts else "it has no configurations"
        return f"{name} is a compound that starts several programs: {how}."
    known = _listed(name for name, item in launch.configurations.items() if not _why_not(item))
    have = f"it has {known}" if known else "no configuration in it starts a Python program"
    return f"launch.json has no configuration {name}; {have}."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(json.dumps, names))


def _target(name: str, configuration: Mapping[str, Any], root: Path, variables: LaunchVariables) -> Target:
    try:
        return _resolved(name, configuration, root, variables)
    except VariableError as reason:
        raise LaunchError(f"The launch configuration {name} {reason}.") from reason


def _resolved(name: str, configuration: Mapping[str, Any], root: Path, variables: LaunchVariables) -> Target:
    """Return the target of a configuration. Raises :class:`VariableError`."""
    cwd = Path(os.path.normpath(root / variables.filled(configuration.get("cwd") or "")))
    module = variables.filled(configuration.get("module") or "")
    args = tuple(map(variables.filled, _arguments(configuration.get("args", ()))))
    if module:
        if problem := no_module(module):
            raise VariableError(f"cannot run: {problem}")
        program = Script(module_file(module, cwd), args, module)
    else:
        program = Script(_program(configuration, cwd, variables), args)
    return Target(
        f"{LAUNCH}{name}",
        name,
        "module" if module else "script",
        program.filename,
        program,
        cwd,
        _environment(configuration, root, variables),
        python=_python(configuration, root, variables),
    )


def _program(configuration: Mapping[str, Any], cwd: Path, variables: LaunchVariables) -> str:
    if not configuration.get("program"):
        raise VariableError("has no program and no module")
    filename = os.path.normpath(cwd / variables.filled(configuration["program"]))
    if not filename.endswith(".py"):
        raise VariableError(f"runs {filename}, whose name does not end with .py")
    return filename


def _python(configuration: Mapping[str, Any], root: Path, variables: LaunchVariables) -> str | None:
    python = configuration.get("python") or configuration.get("pythonPath")
    if isinstance(python, list):
        if len(python) != 1:
            raise VariableError("has a list as its python: only a path is supported")
        (python,) = python
    if python in (None, _SELECTED):
        return None
    path = os.path.expanduser(variables.filled(python))
    return os.path.normpath(root / path) if os.path.dirname(path) else path


def _arguments(args: Any) -> list[str]:
    if isinstance(args, str):
        try:
            return shlex.split(args)
        except ValueError as error:
            raise VariableError(f"has args that cannot be read: {error}") from error
    if not isinstance(args, (list, tuple)):
        raise VariableError("has args that are not a list")
    return list(map(_text, args))


def _environment(configuration: Mapping[str, Any], root: Path, variables: LaunchVariables) -> dict[str, str]:
    """Return a configuration's environment: its ``envFile``, then its ``env``.

    The default ``envFile`` is ``.env``.
    """
    own = configuration.get("env") or {}
    if not isinstance(own, dict) or not all(name and "=" not in name for name in own):
        raise VariableError("has an env that does not map names of variables to values")
    path = root / variables.filled(configuration.get("envFile") or _ENV_FILE)
    try:
        of_file = read_env_file(read_bytes(str(path)).decode("utf-8-sig"), os.environ)
    except FileNotFoundError:
        of_file = {}  # VS Code ignores a missing file, too
    except (OSError, ValueError) as error:
        raise VariableError(f"has an envFile that cannot be read: {_reason(error)}") from error
    of_own = {key: variables.filled(_text(value)) for key, value in own.items() if value is not None}
    return {**of_file, **of_own}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
