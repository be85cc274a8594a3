"""``[tool.fullgraph]`` in pyproject.toml."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from fullgraph_compiler.facts import DEVICES, Dynamic, Files, Switches

from .positions import Span
from .problems import Problem
from .source import read_bytes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TargetKind: TypeAlias = Literal["script", "pytest", "example", "torchrun", "trace"]

_KINDS: tuple[TargetKind, ...] = ("script", "pytest", "example", "torchrun")
_WITH_ARGS: tuple[TargetKind, ...] = ("script", "torchrun")
_DYNAMIC: Mapping[object, Dynamic] = {True: "on", False: "off", "automatic": "automatic"}
_SWITCHES = (
    *("dynamic", "recompile-limit", "only", "cold-caches", "cpp-stacks", "warm-up"),
    *("dry-run", "device", "files"),
)
_TABLE_KEYS = ("targets", "python", "preview-python", "timeout", "memory", "paths", *_SWITCHES)
_TARGET_KEYS = ("name", *_KINDS, "args", "ranks", "cwd", "env", "timeout", *_SWITCHES)
_TABLE = re.compile(r"^\s*\[tool\.fullgraph\]")
_TARGETS_TABLE = re.compile(r"^\s*\[\[tool\.fullgraph\.targets\]\]")
_TARGET = re.compile(r"targets\[(\d+)\]")
_ROW = re.compile(r"\(at line (\d+)")


@dataclass(frozen=True)
class TargetConfig:
    """One of ``targets``: what runs under a name. Paths are as they are written there."""

    name: str
    kind: TargetKind
    program: str
    """A script's path, a pytest node, or ``path::qualname`` of a thing with example calls."""
    args: tuple[str, ...] = ()
    ranks: int = 2
    """How many processes a torchrun target has."""
    cwd: str = ""
    env: tuple[tuple[str, str], ...] = ()
    timeout: float | None = None
    """Seconds."""
    switches: Switches = field(default_factory=Switches)
    """With those of the project where it has none of its own."""


@dataclass(frozen=True)
class Config:
    """A project's configuration; what was wrong in it is left out and told in ``problems``."""

    root: Path
    targets: tuple[TargetConfig, ...] = ()
    python: str | None = None
    timeout: float | None = None
    """Seconds that a run may take."""
    memory: float | None = None
    """GiB that a run may use."""
    switches: Switches = field(default_factory=Switches)
    """What runs do otherwise than their programs say."""
    paths: Mapping[str, str] = field(default_factory=dict)
    """Folders of other machines that traces speak of, and the folders of the project that they are."""
    problems: tuple[Problem, ...] = ()
    preview_python: str | None = None
    """The interpreter that previews kernels where ``python`` cannot."""


def read_config(root: Path) -> Config:
    """The configuration of the project at ``root``; an empty one where it has none."""
    path = root / "pyproject.toml"
    try:
        text = read_bytes(str(path)).decode()
    except FileNotFoundError:
        return Config(root)
    except (OSError, UnicodeDecodeError) as error:
        return Config(root, problems=(_problem(path, 1, f"cannot read pyproject.toml: {error}"),))
    try:
        document: Mapping[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = _ROW.search(str(error))
        row = int(place.group(1)) if place else 1
        return Config(root, problems=(_problem(path, row, f"pyproject.toml does not parse: {error}"),))
    tool = document.get("tool")
    table = tool.get("fullgraph") if isinstance(tool, dict) else None
    if table is None:
        return Config(root)
    return _Reader(path, text).config(root, table)


class _Reader:
    """Checks the table, and gathers what is wrong with it."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._rows = text.splitlines()
        self._problems: list[Problem] = []

    def config(self, root: Path, table: Any) -> Config:
        if not isinstance(table, dict):
            self._wrong("", "a table", table)
            table = {}
        self._check_keys("", table, _TABLE_KEYS)
        switches = self._switches("", table, Switches())
        targets: list[TargetConfig] = []
        for index, item in enumerate(self._list("targets", table.get("targets"))):
            target = self._target(f"targets[{index}]", item, switches)
            if target and any(target.name == other.name for other in targets):
                self._tell(f"targets[{index}]", f"another target is called {target.name!r}")
            elif target:
                targets.append(target)
        python = self._string("python", table.get("python"))
        preview_python = self._string("preview-python", table.get("preview-python"))
        timeout = self._number("timeout", "seconds", table.get("timeout"))
        memory = self._number("memory", "GiB", table.get("memory"))
        paths = self._strings("paths", table.get("paths", {}))
        problems = tuple(self._problems)
        return Config(
            root, tuple(targets), python, timeout, memory, switches, dict(paths), problems, preview_python
        )

    def _target(self, key: str, item: Any, switches: Switches) -> TargetConfig | None:
        if not isinstance(item, dict):
            self._wrong(key, "a table", item)
            return None
        self._check_keys(key, item, _TARGET_KEYS)
        kinds = [kind for kind in _KINDS if kind in item]
        if len(kinds) != 1:
            self._tell(key, "needs exactly one of script, pytest, example and torchrun")
            return None
        program = self._string(f"{key}.{kinds[0]}", item[kinds[0]])
        args = [
            self._string(f"{key}.args[{index}]", arg)
            for index, arg in enumerate(self._list(f"{key}.args", item.get("args")))
        ]
        if args and kinds[0] not in _WITH_ARGS:
            self._tell(f"{key}.args", "only a script has arguments")
        if "ranks" in item and kinds[0] != "torchrun":
            self._tell(f"{key}.ranks", "only torchrun has ranks")
        env = self._strings(f"{key}.env", item.get("env", {}))
        name = self._string(f"{key}.name", item.get("name", program))
        if program is None or name is None:
            return None
        return TargetConfig(
            name=name,
            kind=kinds[0],
            program=program,
            args=tuple(arg for arg in args if arg is not None),
            ranks=self._whole(f"{key}.ranks", item.get("ranks")) or TargetConfig.ranks,
            cwd=self._string(f"{key}.cwd", item.get("cwd")) or "",
            env=tuple(env),
            timeout=self._number(f"{key}.timeout", "seconds", item.get("timeout")),
            switches=self._switches(f"{key}.", item, switches),
        )

    def _switches(self, prefix: str, table: Mapping[str, Any], general: Switches) -> Switches:
        """What a table says of its runs, and the general settings for the rest."""
        dynamic = table.get("dynamic")
        if dynamic is not None and not (isinstance(dynamic, (bool, str)) and dynamic in _DYNAMIC):
            self._wrong(f"{prefix}dynamic", 'true, false or "automatic"', dynamic)
            dynamic = None
        only = self._string(f"{prefix}only", table.get("only"))
        if only is not None:
            try:
                re.compile(only)
            except re.error as error:
                self._tell(f"{prefix}only", f"is no regular expression: {error}")
                only = None
        return Switches(
            dynamic=_DYNAMIC[dynamic] if dynamic is not None else general.dynamic,
            recompile_limit=self._whole(f"{prefix}recompile-limit", table.get("recompile-limit"))
            or general.recompile_limit,
            only=only or general.only,
            cold_caches=self._flag(f"{prefix}cold-caches", table.get("cold-caches"), general.cold_caches),
            cpp_stacks=self._flag(f"{prefix}cpp-stacks", table.get("cpp-stacks"), general.cpp_stacks),
            warm_up=self._whole(f"{prefix}warm-up", table.get("warm-up")) or general.warm_up,
            dry_run=self._flag(f"{prefix}dry-run", table.get("dry-run"), general.dry_run),
            device=self._device(f"{prefix}device", table.get("device")) or general.device,
            files=self._files(f"{prefix}files", table.get("files")) or general.files,
        )

    def _device(self, key: str, value: Any) -> str | None:
        if value is None or (isinstance(value, str) and value in DEVICES):
            return value
        self._wrong(key, f"one of {', '.join(DEVICES)}", value)
        return None

    def _files(self, key: str, value: Any) -> Files | None:
        if value is None or value in get_args(Files):
            return cast("Files | None", value)
        self._wrong(key, '"keep" or "discard"', value)
        return None

    def _check_keys(self, key: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for name in table:
            if name not in known:
                self._tell(f"{key}.{name}" if key else name, f"unknown key; known are {', '.join(known)}")

    def _strings(self, key: str, table: Any) -> list[tuple[str, str]]:
        """The entries of a table whose values are strings."""
        if not isinstance(table, dict):
            self._wrong(key, "a table", table)
            return []
        found = ((name, self._string(f"{key}.{name}", value)) for name, value in table.items())
        return [(name, value) for name, value in found if value is not None]

    def _string(self, key: str, value: Any) -> str | None:
        if value is None or (isinstance(value, str) and value):
            return value
        self._wrong(key, "a string that is not empty", value)
        return None

    def _number(self, key: str, unit: str, value: Any) -> float | None:
        if value is None:
            return None
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            return float(value)
        self._wrong(key, f"a number of {unit} above 0", value)
        return None

    def _whole(self, key: str, value: Any) -> int | None:
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self._wrong(key, "a whole number above 0", value)
        return None

    def _flag(self, key: str, value: Any, general: bool) -> bool:
        if value is None:
            return general
        if isinstance(value, bool):
            return value
        self._wrong(key, "true or false", value)
        return general

    def _list(self, key: str, value: Any) -> list[Any]:
        if value is None:
            return []
        if isinstance(value, list):
            return value
        self._wrong(key, "a list", value)
        return []

    def _wrong(self, key: str, wanted: str, value: Any) -> None:
        self._tell(key, f"must be {wanted}, not {value!r}")

    def _tell(self, key: str, message: str) -> None:
        name = f"tool.fullgraph.{key}" if key else "tool.fullgraph"
        self._problems.append(_problem(self._path, self._row(key), f"{name}: {message}"))

    def _row(self, key: str) -> int:
        """The row where a key of the table, or the target that it belongs to, begins."""
        tables = [row for row, line in enumerate(self._rows, 1) if _TABLE.match(line)]
        arrays = [row for row, line in enumerate(self._rows, 1) if _TARGETS_TABLE.match(line)]
        target = _TARGET.match(key)
        if target and int(target.group(1)) < len(arrays):
            return arrays[int(target.group(1))]
        begin = tables[0] if tables else 1
        own = re.compile(rf"^\s*{re.escape('targets' if target else key)}\s*=")
        rows = (row for row in range(begin, len(self._rows) + 1) if key and own.match(self._rows[row - 1]))
        return next(rows, begin)


def _problem(path: Path, row: int, message: str) -> Problem:
    return Problem(message, Span(str(path), row, 1, row, 1))
