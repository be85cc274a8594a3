"""The effective settings of a run, resolved from every source of settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..workers.interpreter import PythonInterpreter, find_interpreter, named_interpreter
from ..workers.settings import RunSettings, memory_limit
from ..workspace.config import ProjectConfig
from ..workspace.targets import Target, Trace


@dataclass(frozen=True)
class SettingOverrides:
    """Overrides by an editor's settings or a command line; ``None`` if not set."""

    folder: Path
    """The folder to which relative paths of interpreters refer; in an editor, the folder of the settings."""
    interpreter: str | None = None
    """The Python to use: its path, the folder of an environment, or the name of a program."""
    active_interpreter: str | None = None
    """The Python that is active in the editor, used if neither a setting nor the project sets one."""
    preview_python: str | None = None
    """The Python that previews kernels if the programs' Python cannot."""
    timeout: float | None = None
    """Seconds that a run may take."""
    memory: float | None = None
    """GiB that a run may use."""
    switches: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of :class:`fullgraph_compiler.facts.Switches`."""
    trace_paths: Mapping[str, str] = field(default_factory=dict)
    """Folders on other machines that are named in traces, mapped to the corresponding local folders."""
    goes_deeper: bool = False
    """Whether TorchInductor runs automatically after a run that left it out."""
    tries_fixes: bool = False
    """Whether fixes are tried automatically after a short run."""


def resolve(
    target: Target, config: ProjectConfig, overrides: SettingOverrides, default_timeout: float | None = None
) -> tuple[Target, RunSettings]:
    """Return a target and the settings of its run.

    A target that is a trace gets the mapping of folders on other machines. Settings of ``overrides`` take
    precedence over settings of the target, which take precedence over settings of the project.
    ``default_timeout`` (seconds) is the time limit if no setting limits the time.
    """
    switches = target.switches or config.switches
    settings = RunSettings(
        python=choose_interpreter(config, overrides, target.python).path,
        cwd=target.cwd,
        env={**os.environ, **target.env},
        memory=memory_limit(overrides.memory or config.memory),
        switches=replace(switches, **overrides.switches),
        preview_python=_choose_preview_python(config, overrides),
    ).within(overrides.timeout or target.timeout or config.timeout, default_timeout)
    if isinstance(target.program, Trace):
        folders = {**config.paths, **overrides.trace_paths}
        target = replace(target, program=replace(target.program, folders=tuple(folders.items())))
    return target, settings


def choose_interpreter(
    config: ProjectConfig, overrides: SettingOverrides, own: str | None = None
) -> PythonInterpreter:
    """Choose the Python of a target.

    The first that is set is chosen: the Python of ``overrides``, ``own`` (the target's), the project's, the
    editor's active Python. If none is set, an installed Python is looked up.
    """
    for name, folder, origin in (
        # The origins are shown only in editors.
        (overrides.interpreter, overrides.folder, "the setting fullgraph.interpreter"),
        (own, config.root, "launch.json"),
        (config.python, config.root, "pyproject.toml"),
        (overrides.active_interpreter, overrides.folder, "the Python extension"),
    ):
        if name:
            return PythonInterpreter(named_interpreter(name, folder), origin)
    return find_interpreter(config.root)


def _choose_preview_python(config: ProjectConfig, overrides: SettingOverrides) -> str | None:
    if overrides.preview_python:
        return named_interpreter(overrides.preview_python, overrides.folder)
    return named_interpreter(config.preview_python, config.root) if config.preview_python else None
