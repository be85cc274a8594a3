"""From the words of the command line to targets and an interpreter."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import click
from fullgraph_compiler.facts import Script

from ..workspace.config import Config, read_config
from ..workspace.source import read_source
from ..workspace.targets import (
    Target,
    configured_targets,
    example_targets,
    file_target,
    find_targets,
    pytest_target,
    script_target,
)
from ..workspace.workspace import project_root

_MOST_SUGGESTIONS = 8


def resolve_targets(
    names: Sequence[str], cwd: Path, as_pytest: bool, args: tuple[str, ...] | None
) -> list[Target]:
    """The target of each name. Raises ``click.UsageError`` for one that does not exist."""
    resolve = _pytest_node if as_pytest else _target
    targets = [resolve(name, cwd) for name in names]
    return targets if args is None else [_with_args(target, args) for target in targets]


def find_python(wanted: str | None, config: Config, environ: Mapping[str, str]) -> str:
    """The interpreter to run with. Raises ``click.UsageError`` if there is none.

    That is the one asked for, else the configured one, the active virtual environment, the one
    that runs Fullgraph if it has torch, the project's environment, and the first on the path.
    """
    if wanted:
        return _interpreter(wanted, Path.cwd(), "--python")
    if config.python:
        return _interpreter(config.python, config.root, "tool.fullgraph.python")
    return next(_usual_pythons(config.root, environ), None) or _no_python()


def _usual_pythons(root: Path, environ: Mapping[str, str]) -> Iterator[str]:
    active = environ.get("VIRTUAL_ENV")
    if active:
        yield from _in_environment(Path(active))
    if find_spec("torch") is not None:
        yield sys.executable
    for name in (".venv", "venv"):
        yield from _in_environment(root / name)
    for name in ("python3", "python"):
        found = shutil.which(name)
        if found:
            yield found


def _interpreter(name: str, folder: Path, option: str) -> str:
    """The interpreter of a path in ``folder``, in the folder of an environment, or of a name on the path."""
    path = folder / Path(name).expanduser()
    if path.is_dir():
        inside = next(_in_environment(path), None)
        if inside is None:
            raise click.UsageError(f"{option}: there is no Python in the folder {name}")
        return inside
    found = shutil.which(str(path)) or (shutil.which(name) if Path(name).name == name else None)
    if found is None:
        raise click.UsageError(f"{option}: {name} is no program that can be run")
    return found


def _in_environment(folder: Path) -> Iterator[str]:
    for place in ("bin/python", "Scripts/python.exe"):
        if (folder / place).is_file():
            # Not resolved: through the link, Python would not know its environment.
            yield str(folder / place)


def _no_python() -> str:
    raise click.UsageError("no Python was found; name one that has torch with --python")


def _target(name: str, cwd: Path) -> Target:
    path, _, qualname = name.partition("::")
    filename = os.path.normpath(cwd / path)
    if not os.path.exists(filename):
        return _configured(name, cwd)
    if os.path.isdir(filename):
        raise click.UsageError(
            f"{path} is a folder: name a target in it{_suggestions(find_targets(Path(filename)), cwd)}"
        )
    source = read_source(filename)
    if not qualname:
        return file_target(source, cwd) if source else script_target(filename, cwd)
    examples = example_targets(source, cwd) if source else ()
    for target in examples:
        if target.id == f"{filename}::{qualname}":
            return target
    what = f"{qualname} has no example calls in {path}"
    raise click.UsageError(
        what + (_suggestions(examples, cwd) or f"\n\nWrite one above it: # fullgraph: {qualname}(...)")
    )


def _pytest_node(node: str, cwd: Path) -> Target:
    path = node.partition("::")[0]
    if not os.path.exists(cwd / path):
        raise click.UsageError(f"{path} does not exist")
    return pytest_target(node, cwd)


def _configured(name: str, cwd: Path) -> Target:
    targets = configured_targets(read_config(project_root(cwd)))
    for target in targets:
        if target.id == name:
            return target
    known = f"; pyproject.toml names {', '.join(target.id for target in targets)}" if targets else ""
    raise click.UsageError(f"{name.partition('::')[0]} does not exist{known}")


def _with_args(target: Target, args: tuple[str, ...]) -> Target:
    if not isinstance(target.program, Script):
        raise click.UsageError(f"--args is for scripts, and {target.label} runs as {target.kind}")
    return replace(target, program=replace(target.program, args=args))


def _suggestions(targets: Sequence[Target], cwd: Path) -> str:
    if not targets:
        return ""
    names = [_as_typed(target, cwd) for target in targets[:_MOST_SUGGESTIONS]]
    more = ["..."] if len(targets) > _MOST_SUGGESTIONS else []
    return (
        "\n\n"
        + "\n".join(f"  fullgraph check {name}" for name in names)
        + "".join(f"\n  {dots}" for dots in more)
    )


def _as_typed(target: Target, cwd: Path) -> str:
    prefix = "--pytest " if target.kind == "pytest" else ""
    name = target.id.removeprefix("pytest:")
    return prefix + (os.path.relpath(name, cwd) if os.path.isabs(name) else name)
