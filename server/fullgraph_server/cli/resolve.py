"""The resolution of names on the command line to targets."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

import click
from fullgraph_compiler.facts import Script

from ..workspace.config import read_config
from ..workspace.programs import no_module
from ..workspace.source import SourceFile, read_source, unreadable
from ..workspace.targets import (
    MODULE,
    Target,
    Torchrun,
    cell_target,
    configured_targets,
    example_targets,
    file_target,
    find_targets,
    module_target,
    pytest_target,
    script_target,
)
from ..workspace.workspace import project_root
from .formats.checked import shown_path

Named: TypeAlias = Literal["pytest", "module"] | None
"""What names mean; ``None`` for files, and targets of pyproject.toml."""

_MOST_SUGGESTIONS = 8


def resolve_targets(
    names: Sequence[str],
    cwd: Path,
    named: Named = None,
    args: tuple[str, ...] | None = None,
    ranks: int | None = None,
) -> list[Target]:
    """Return the target of each name. Raises ``click.UsageError`` for one that does not exist."""
    resolve = {"pytest": _pytest_node, "module": _module, None: _target}[named]
    targets = [resolve(name, cwd) for name in names]
    if args is not None:
        targets = [_with_args(target, args) for target in targets]
    return targets if ranks is None else [_with_ranks(target, ranks) for target in targets]


def _target(name: str, cwd: Path) -> Target:
    path, _, qualname = name.partition("::")
    filename = os.path.normpath(cwd / path)
    if not os.path.exists(filename):
        return _configured(name, cwd)
    if os.path.isdir(filename):
        raise click.UsageError(
            f"{path} is a folder: name a target in it{_suggestions(find_targets(Path(filename)))}"
        )
    if why := unreadable(filename):
        raise click.UsageError(f"{path} cannot be read: {why}")
    source = read_source(filename)
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


def _configured(name: str, cwd: Path) -> Target:
    targets = configured_targets(read_config(project_root(cwd)))
    for target in targets:
        if target.id == name:
            return target
    known = f"; pyproject.toml names {', '.join(target.id for target in targets)}" if targets else ""
    raise click.UsageError(f"{name.partition('::')[0]} does not exist{known}")


def _with_args(target: Target, args: tuple[str, ...]) -> Target:
    program = target.program
    if isinstance(program, Torchrun):
        return replace(target, program=replace(program, script=replace(program.script, args=args)))
    if not isinstance(program, Script):
        raise click.UsageError(f"--args is for scripts, and {target.label} runs as {target.kind}")
    return replace(target, program=replace(program, args=args))


def _with_ranks(target: Target, ranks: int) -> Target:
    program = target.program
    script = program.script if isinstance(program, Torchrun) else program
    if not isinstance(script, Script):
        raise click.UsageError(f"--ranks is for scripts, and {target.label} runs as {target.kind}")
    return replace(target, kind="torchrun", program=Torchrun(script, ranks))


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
    """Return the name of a target on the command line, quoted, with the option that it needs."""
    if target.id.startswith(MODULE):
        return MODULE + shlex.quote(target.id.removeprefix(MODULE))
    prefix = "--pytest " if target.kind == "pytest" and target.id.startswith("pytest:") else ""
    name = target.id.removeprefix("pytest:")
    return prefix + shlex.quote(shown_path(name))
