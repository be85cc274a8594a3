"""The command that shrinks a failure of a target to a repro."""

from __future__ import annotations

import itertools
import sys
from contextlib import closing
from pathlib import Path

import click
from fullgraph_compiler.facts import Level

from ..runs.effective_settings import SettingOverrides
from ..runs.minification import FailureChoice
from ..workspace.targets import Target
from .output import progress, tell, write_line
from .session import NOT_STARTED, CommandSession

_NOTHING_FAILS = 1


def minify_target(
    target: Target, overrides: SettingOverrides, output: Path, failure: int, level: Level | None
) -> int:
    """Write a repro to ``output``, print the result, and return the exit code."""
    if not output.parent.is_dir():
        raise click.UsageError(
            f"the folder {output.parent} does not exist: create it, or name another file with -o"
        )
    with closing(CommandSession([target], "minify", overrides)) as session, progress() as show:
        minified = session.minify(target, FailureChoice(failure, level=level), output, show)
    repro = minified.size is not None
    write_line(sys.stdout if repro else sys.stderr, minified.message)
    if repro:
        tell(f"Before you share {output.name}, check what it contains: inputs, perhaps weights.")
    if session.signalled:
        return session.signalled
    if repro:
        return 0
    return _NOTHING_FAILS if minified.status == "finished" else NOT_STARTED


def free_name(path: Path) -> Path:
    """Return ``path``, or the same path with a number if a file with this path exists."""
    names = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
    return path if not path.exists() else next(name for name in names if not name.exists())
