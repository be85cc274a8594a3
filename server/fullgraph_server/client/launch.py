"""Targets of ``.vscode/launch.json``: the scripts that debugpy would start."""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fullgraph_compiler.facts import Script

from ..workspace.source import read_bytes
from ..workspace.targets import Target

_log = logging.getLogger(__name__)

LAUNCH = "launch:"
"""The prefix of the id of a target of launch.json."""
_DEBUGGERS = ("debugpy", "python")
_SYSTEM = {"linux": "linux", "darwin": "osx", "win32": "windows"}.get(sys.platform, "")
_SELECTED = "${command:python.interpreterPath}"
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])', re.DOTALL)
_VARIABLE = re.compile(r"\$\{([^${}]*)\}")


class _UnresolvedError(Exception):
    """A configuration cannot be run as it is written: the message says why."""


def launch_targets(root: Path) -> tuple[Target, ...]:
    """Return the targets of a folder's launch configurations; what cannot run is left out, and logged."""
    path = root / ".vscode" / "launch.json"
    try:
        text = read_bytes(str(path)).decode("utf-8-sig")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        _log.info("%s cannot be read: %s", path, error)
        return ()
    return _targets(text, root)


@lru_cache(maxsize=16)
def _targets(text: str, root: Path) -> tuple[Target, ...]:
    """Read the text of a launch.json. Cached, so that each text is complained about once."""
    try:
        document = json.loads(without_comments(text))
    except (ValueError, RecursionError) as error:
        _log.info("launch.json of %s cannot be read: %s", root, error)
        return ()
    configurations = document.get("configurations") if isinstance(document, dict) else None
    targets: dict[str, Target] = {}
    for configuration in configurations if isinstance(configurations, list) else ():
        if not isinstance(configuration, dict) or not _is_launch(configuration):
            continue
        try:
            target = _target({**configuration, **_own_system(configuration)}, root)
            targets.setdefault(target.id, target)
        except _UnresolvedError as reason:
            _log.info("launch.json: %r is no target: %s", configuration.get("name"), reason)
    return tuple(targets.values())


def without_comments(text: str) -> str:
    """Make JSON of VS Code's JSON: without comments, and without commas behind the last element."""
    return _COMMA.sub(r"\1", _COMMENT.sub(r"\1", text))


def _is_launch(configuration: Mapping[str, Any]) -> bool:
    return configuration.get("type") in _DEBUGGERS and configuration.get("request") == "launch"


def _own_system(configuration: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a configuration says for this operating system alone."""
    own = configuration.get(_SYSTEM)
    return own if isinstance(own, dict) else {}


def _target(configuration: Mapping[str, Any], root: Path) -> Target:
    name, program = configuration.get("name"), configuration.get("program")
    if not isinstance(name, str) or not name:
        raise _UnresolvedError("it has no name")
    if not isinstance(program, str) or not program:
        raise _UnresolvedError("it has no program")
    if configuration.get("envFile"):
        raise _UnresolvedError("its envFile is not read")
    if configuration.get("python", _SELECTED) != _SELECTED:
        raise _UnresolvedError("it has a Python of its own")
    cwd = os.path.normpath(root / _resolved(configuration.get("cwd") or "", root))
    filename = os.path.normpath(os.path.join(cwd, _resolved(program, root)))
    if not filename.endswith(".py"):
        raise _UnresolvedError("its program is no Python file")
    args = tuple(_resolved(item, root) for item in _arguments(configuration.get("args", ())))
    env = dict(_environment(configuration.get("env"), root))
    return Target(f"{LAUNCH}{name}", name, "script", filename, Script(filename, args), Path(cwd), env)


def _arguments(args: Any) -> list[str]:
    if isinstance(args, str):
        try:
            return shlex.split(args)
        except ValueError as error:
            raise _UnresolvedError(f"its args cannot be read: {error}") from error
    if not isinstance(args, (list, tuple)):
        raise _UnresolvedError("its args are no list")
    return [item if isinstance(item, str) else json.dumps(item) for item in args]


def _environment(env: Any, root: Path) -> Iterator[tuple[str, str]]:
    for name, value in env.items() if isinstance(env, dict) else ():
        if value is not None:
            yield name, _resolved(value if isinstance(value, str) else json.dumps(value), root)


def _resolved(text: Any, root: Path) -> str:
    """Fill in VS Code's variables. Raises for one that only the editor knows, such as ``${file}``."""
    if not isinstance(text, str):
        raise _UnresolvedError(f"{text!r} is no text")

    def value(match: re.Match[str]) -> str:
        variable = match[1]
        if variable.startswith("env:"):
            return os.environ.get(variable.removeprefix("env:"), "")
        known = {
            "workspaceFolder": str(root),
            "workspaceRoot": str(root),
            f"workspaceFolder:{root.name}": str(root),
            "workspaceFolderBasename": root.name,
            "userHome": str(Path.home()),
            "pathSeparator": os.sep,
            "/": os.sep,
        }
        if variable not in known:
            raise _UnresolvedError(f"only the editor knows {match[0]}")
        return known[variable]

    return _VARIABLE.sub(value, text)
