"""The resolution of names on the command line to targets."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import click
from fullgraph_compiler.facts import Script

from ..workspace.config import read_config
from ..workspace.launch.configurations import LaunchError, launch_path, launch_target
from ..workspace.programs import no_module
from ..workspace.source import TOO_LONG, SourceFile, read_source, unreadable
from ..workspace.targets import (
    CONSOLE_SCRIPT,
    LAUNCH,
    MODULE,
    PYTEST,
    Target,
    TorchrunJob,
    cell_target,
    configured_targets,
    console_script_target,
    example_targets,
    file_target,
    find_targets,
    folder_targets,
    module_target,
    pytest_target,
    script_target,
)
from ..workspace.workspace import project_root
from .formats.checked import shown_path
from .output import tell

Named: TypeAlias = Literal["pytest", "module", "console-script"] | None
"""The kind of the names on the command line; ``None`` for files and targets of pyproject.toml."""

_MOST_SUGGESTIONS = 8
_OPTIONS = {MODULE: MODULE, CONSOLE_SCRIPT: CONSOLE_SCRIPT, LAUNCH: "--launch ", PYTEST: "--pytest "}
"""The option that selects a target on the command line, by prefix of the target's id."""


@dataclass(frozen=True)
class TargetQuery:
    """The words on the command line that select targets: names, or ``--launch``.

    ``launch`` is the name of a launch configuration.
    """

    names: Sequence[str]
    named: Named = None
    launch: str | None = None
    folders: bool = False
    """Whether the name of a folder stands for the targets in the folder."""


def resolve_targets(
    asked: TargetQuery, cwd: Path, args: tuple[str, ...] | None = None, ranks: int | None = None
) -> list[Target]:
    """Return the selected targets; raise ``click.UsageError`` for an unknown name."""
    if asked.launch is not None:
        targets = [_launch(asked.launch, asked, cwd)]
    else:
        targets = [target for name in asked.names for target in _named(name, asked, cwd)]
    if args is not None:
        targets = [_with_args(target, args) for target in targets]
    return targets if ranks is None else [_with_ranks(target, ranks) for target in targets]


def _named(name: str, asked: TargetQuery, cwd: Path) -> Sequence[Target]:
    if asked.named is None and asked.folders and os.path.isdir(cwd / name):
        return _folder(name, cwd)
    resolve = {"pytest": _pytest_node, "module": _module, "console-script": _console_script, None: _target}
    return [resolve[asked.named](name, cwd)]


def _folder(name: str, cwd: Path) -> Sequence[Target]:
    folder = Path(os.path.normpath(cwd / name))
    targets = folder_targets(folder, read_config(project_root(folder)), cwd)
    if not targets:
        raise click.UsageError(
            f"{name} has no targets: no .py file in it is a program or test that mentions torch.compile, or "
            "has example calls; to run a notebook, name its file"
        )
    return targets


def _launch(name: str, asked: TargetQuery, cwd: Path) -> Target:
    if asked.named is not None or len(asked.names) > 1:
        raise click.UsageError("--launch takes one file at most, for ${file} in the configuration")
    root = next((folder for folder in (cwd, *cwd.parents) if os.path.exists(launch_path(folder))), None)
    if root is None:
        raise click.UsageError(f"there is no .vscode/launch.json in {cwd} or a folder above it")
    (file,) = asked.names or (None,)
    try:
        return launch_target(root, name, Path(os.path.normpath(cwd / file)) if file else None)
    except LaunchError as error:
        raise click.UsageError(str(error)) from error


def _target(name: str, cwd: Path) -> Target:
    path, _, qualname = name.partition("::")
    filename = os.path.normpath(cwd / path)
    if not os.path.exists(filename):
        return _configured(name, cwd)
    if os.path.isdir(filename):
        raise click.UsageError(
            f"{path} is a folder: name a target in it{_suggestions(find_targets(Path(filename), cwd))}"
        )
    if why := unreadable(filename):
        raise click.UsageError(f"{path} cannot be read: {why}")
    source = read_source(filename)
    if source and source.is_long:
        tell(f"{path}: {TOO_LONG}")
    if not qualname:
        return file_target(source, cwd) if source else script_target(filename, cwd)
    if source and source.cells and qualname.isdecimal():
        return _cell(source, int(qualname), path, cwd)
    examples = example_targets(source, cwd) if source else ()
    for target in examples:
        if target.id == f"{filename}::{qualname}":
            return target
    problem = f"{qualname} has no example calls in {path}"
    raise click.UsageError(
        problem + (_suggestions(examples) or f"\n\nWrite one above it: # fullgraph: {qualname}(...)")
    )


def _cell(source: SourceFile, cell: int, path: str, cwd: Path) -> Target:
    if not 0 < cell <= len(source.cells):
        raise click.UsageError(f"{path} has no code cell {cell}: they are numbered 1 to {len(source.cells)}")
    return cell_target(source, cell, cwd)


def _pytest_node(node: str, cwd: Path) -> Target:
    path = node.partition("::")[0]
    if not os.path.exists(cwd / path):
        raise click.UsageError(f"{path} does not exist")
    return pytest_target(node, cwd)


def _module(name: str, cwd: Path) -> Target:
    if problem := no_module(name):
        raise click.UsageError(problem)
    return module_target(name, cwd)


def _console_script(name: str, cwd: Path) -> Target:
    if not name:
        raise click.UsageError("--console-script needs the name of a command that a package installs")
    return console_script_target(name, read_config(project_root(cwd)), cwd)


def _configured(name: str, cwd: Path) -> Target:
    targets = configured_targets(read_config(project_root(cwd)))
    for target in targets:
        if target.id == name:
            return target
    known = f"; pyproject.toml names {', '.join(target.id for target in targets)}" if targets else ""
    command = f"\n\nIf a package installs it: fullgraph check --console-script {name}"
    problem = f"{name.partition('::')[0]} does not exist{known}"
    raise click.UsageError(problem + (command if name.replace("-", "_").isidentifier() else ""))


def _with_args(target: Target, args: tuple[str, ...]) -> Target:
    program = target.program
    if isinstance(program, TorchrunJob):
        return replace(target, program=replace(program, script=replace(program.script, args=args)))
    if not isinstance(program, Script):
        raise click.UsageError(f"arguments are for scripts, and {target.label} runs as {target.kind}")
    return replace(target, program=replace(program, args=args))


def _with_ranks(target: Target, ranks: int) -> Target:
    program = target.program
    script = program.script if isinstance(program, TorchrunJob) else program
    if not isinstance(script, Script):
        raise click.UsageError(f"--ranks is for scripts, and {target.label} runs as {target.kind}")
    return replace(target, kind="torchrun", program=TorchrunJob(script, ranks))


def _suggestions(targets: Sequence[Target]) -> str:
    if not targets:
        return ""
    names = [as_typed(target) for target in targets[:_MOST_SUGGESTIONS]]
    more = ["..."] if len(targets) > _MOST_SUGGESTIONS else []
    return (
        "\n\n"
        + "\n".join(f"  fullgraph check {name}" for name in names)
        + "".join(f"\n  {dots}" for dots in more)
    )


def as_typed(target: Target) -> str:
    """Return a target as typed on the command line: quoted, with its option."""
    for prefix, option in _OPTIONS.items():
        if target.id.startswith(prefix):
            return option + shlex.quote(shown_path(target.id.removeprefix(prefix)))
    return shlex.quote(shown_path(target.id))
