"""The configuration of a project: ``[tool.fullgraph]`` in pyproject.toml."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from fullgraph_compiler.facts import Switches

from .positions import Span, TextProblem
from .programs import no_module
from .setting_types import Setting, read_settings, wrong_type
from .settings_schema import PROGRAMS, PROJECT, SWITCHES, TARGET
from .source import read_bytes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TargetKind: TypeAlias = Literal[
    "script", "module", "console-script", "pytest", "example", "torchrun", "trace"
]

_WITH_ARGS: tuple[TargetKind, ...] = ("script", "module", "console-script", "torchrun")
_TABLE = re.compile(r"^\s*\[tool\.fullgraph\]")
_TARGETS_TABLE = re.compile(r"^\s*\[\[tool\.fullgraph\.targets\]\]")
_TARGET = re.compile(r"targets\[(\d+)\]")
_ROW = re.compile(r"\(at line (\d+)")


@dataclass(frozen=True)
class TargetConfig:
    """An entry of ``targets``: a program with a name. Paths are not resolved."""

    name: str
    kind: TargetKind
    program: str
    """According to ``kind``: the path of a script, a module, the name of a console script, a pytest node, or
    ``path::qualname`` of a function or class with example calls."""
    args: tuple[str, ...] = ()
    ranks: int = 2
    """The number of processes of a torchrun target."""
    cwd: str = ""
    env: tuple[tuple[str, str], ...] = ()
    timeout: float | None = None
    """The time limit of a run in seconds."""
    switches: Switches = field(default_factory=Switches)
    """The target's switches; those that the target does not set are the project's."""


@dataclass(frozen=True)
class ProjectConfig:
    """A project's configuration; invalid values are only reported in ``problems``."""

    root: Path
    targets: tuple[TargetConfig, ...] = ()
    python: str | None = None
    timeout: float | None = None
    """The time limit of a run in seconds."""
    memory: float | None = None
    """The memory limit of a run in GiB."""
    switches: Switches = field(default_factory=Switches)
    """Settings that override those that the programs make."""
    paths: Mapping[str, str] = field(default_factory=dict)
    """Folders on the machines where traces were recorded, mapped to folders on this machine."""
    problems: tuple[TextProblem, ...] = ()
    baseline: str | None = None
    """The file of known findings."""
    preview_python: str | None = None
    """The Python interpreter that previews kernels if ``python`` cannot."""
    console_scripts: Mapping[str, str] = field(default_factory=dict)
    """The modules behind the console scripts of the project's own package (``[project.scripts]``)."""


def baseline_path(config: ProjectConfig) -> Path | None:
    """Return the path of the file of known findings, which need not exist."""
    return config.root / config.baseline if config.baseline else None


def read_config(root: Path) -> ProjectConfig:
    """Read the configuration of the project at ``root``; empty if there is none.

    Does not raise: if the file cannot be read or parsed, this is reported in ``problems``.
    """
    path = root / "pyproject.toml"
    try:
        text = read_bytes(str(path)).decode()
    except FileNotFoundError:
        return ProjectConfig(root)
    except (OSError, UnicodeDecodeError) as error:
        return ProjectConfig(root, problems=(_problem(path, 1, f"cannot read pyproject.toml: {error}"),))
    try:
        document: Mapping[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = _ROW.search(str(error))
        row = int(place.group(1)) if place else 1
        return ProjectConfig(root, problems=(_problem(path, row, f"pyproject.toml does not parse: {error}"),))
    tool = document.get("tool")
    table = tool.get("fullgraph") if isinstance(tool, dict) else None
    config = ProjectConfig(root) if table is None else _ConfigReader(path, text).config(root, table)
    return replace(config, console_scripts=dict(_console_scripts(document)))


def _console_scripts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    project = document.get("project")
    scripts = project.get("scripts") if isinstance(project, dict) else None
    for name, entry in scripts.items() if isinstance(scripts, dict) else ():
        if isinstance(entry, str):
            yield name, entry.partition(":")[0].strip()


def target_tables(text: str) -> Sequence[Any]:
    """Return the target tables in the text of a pyproject.toml.

    Raises ``ValueError`` if the text is not TOML, and ``KeyError`` if it has no target tables.
    """
    tables: Sequence[Any] = tomllib.loads(text)["tool"]["fullgraph"]["targets"]
    return tables


class _ConfigReader:
    """A reader of ``[tool.fullgraph]`` that collects the problems in the table."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._rows = text.splitlines()
        self._problems: list[TextProblem] = []

    @cached_property
    def _begin(self) -> int:
        """The row where the table begins."""
        return next((row for row, line in enumerate(self._rows, 1) if _TABLE.match(line)), 1)

    @cached_property
    def _targets(self) -> list[int]:
        """The first row of each ``[[tool.fullgraph.targets]]`` table."""
        return [row for row, line in enumerate(self._rows, 1) if _TARGETS_TABLE.match(line)]

    @cached_property
    def _keys(self) -> dict[str, int]:
        """The first row of each key at or after the row of ``[tool.fullgraph]``."""
        keys: dict[str, int] = {}
        for row, line in enumerate(self._rows[self._begin - 1 :], self._begin):
            name, equals, _ = line.partition("=")
            if equals and not name.lstrip().startswith("#"):
                keys.setdefault(name.strip(), row)
        return keys

    def config(self, root: Path, table: Any) -> ProjectConfig:
        """Return the configuration that the table describes."""
        if not isinstance(table, dict):
            self._report("", wrong_type("a table", table))
            table = {}
        self._check_keys("", table, (*PROJECT, *SWITCHES))
        own = read_settings(PROJECT, table, self._report)
        switches = Switches(**read_settings(SWITCHES, table, self._report))
        targets: dict[str, TargetConfig] = {}
        for index, item in enumerate(own.pop("targets", ())):
            target = self._target(f"targets[{index}]", item, switches)
            if target and target.name in targets:
                self._report(f"targets[{index}]", f"another target is called {target.name!r}")
            elif target:
                targets[target.name] = target
        return ProjectConfig(
            root, tuple(targets.values()), switches=switches, problems=tuple(self._problems), **own
        )

    def _target(self, key: str, item: Any, switches: Switches) -> TargetConfig | None:
        if not isinstance(item, dict):
            self._report(key, wrong_type("a table", item))
            return None
        self._check_keys(key, item, (*TARGET, *SWITCHES))
        kinds = [kind for kind in get_args(TargetKind) if kind in PROGRAMS and kind in item]
        if len(kinds) != 1:
            *most, last = PROGRAMS
            self._report(key, f"needs exactly one of {', '.join(most)} and {last}")
            return None
        (kind,) = kinds
        own = read_settings(TARGET, item, self._report, f"{key}.")
        own_switches = read_settings(SWITCHES, item, self._report, f"{key}.")
        if item.get("args") and kind not in _WITH_ARGS:
            self._report(f"{key}.args", "only a script, console script or module has arguments")
        if "ranks" in item and kind != "torchrun":
            self._report(f"{key}.ranks", "only torchrun has ranks")
        program = own.pop(kind.replace("-", "_"), None)
        if kind == "module" and program and (problem := no_module(program)):
            self._report(f"{key}.module", problem)
            return None
        name = own.pop("name", None if "name" in item else program)
        env = tuple(own.pop("env", {}).items())
        if program is None or name is None:
            return None
        return TargetConfig(name, kind, program, env=env, switches=replace(switches, **own_switches), **own)

    def _check_keys(self, key: str, table: Mapping[str, Any], settings: Sequence[Setting]) -> None:
        known = [setting.key for setting in settings]
        for name in table:
            if name not in known:
                self._report(f"{key}.{name}" if key else name, f"unknown key; known are {', '.join(known)}")

    def _report(self, key: str, message: str) -> None:
        name = f"tool.fullgraph.{key}" if key else "tool.fullgraph"
        self._problems.append(_problem(self._path, self._row(key), f"{name}: {message}"))

    def _row(self, key: str) -> int:
        """Return the 1-based row of a key, or of the target that contains the key."""
        target = _TARGET.match(key)
        if target and int(target.group(1)) < len(self._targets):
            return self._targets[int(target.group(1))]
        return self._keys.get("targets" if target else key, self._begin)


def _problem(path: Path, row: int, message: str) -> TextProblem:
    return TextProblem(message, Span(str(path), row, 1, row, 1))
