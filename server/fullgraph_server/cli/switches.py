"""Options of a run that override settings of its program."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import click
from fullgraph_compiler.facts import DEVICES

from ..runs.effective_settings import SettingOverrides

Command: TypeAlias = Callable[..., Any]
Option: TypeAlias = Callable[[Command], Command]

_SWITCHES: Mapping[str, Option] = {
    "dynamic": click.option(
        "--dynamic",
        type=click.Choice(["on", "off", "automatic"]),
        help="Make sizes dynamic, static, or dynamic once they change, whatever the program sets.",
    ),
    "recompile_limit": click.option(
        "--recompile-limit",
        type=click.IntRange(min=1),
        help="Compile each function at most N times, whatever the program sets.",
        metavar="N",
    ),
    "only": click.option("--only", help="Compile only functions whose full name matches.", metavar="REGEX"),
    "cold_caches": click.option(
        "--cold-caches", is_flag=True, default=None, help="Reuse no kernel of an earlier run."
    ),
    "cpp_stacks": click.option(
        "--cpp-stacks",
        is_flag=True,
        default=None,
        help="Show the C++ calls that add guards on sizes. Slow.",
    ),
    "dry_run": click.option(
        "--dry-run",
        is_flag=True,
        default=None,
        help="Run with tensors that have no data, so that models of any size fit.",
    ),
    "discard_files": click.option(
        "--discard-files/--keep-files",
        default=None,
        help="Discard the program's file changes after the run.  [default: keep; a dry run always discards]",
    ),
}
"""Options by the attribute of ``Switches`` that they set; ``discard_files`` sets ``files``."""


_DEVICE: Option = click.option(
    "--device",
    type=click.Choice(list(DEVICES)),
    help="Run without data, as if this machine had this GPU; fullgraph devices lists the GPUs.",
)
_PREVIEW_PYTHON: Option = click.option(
    "--preview-python",
    help="An interpreter whose torch is a CUDA build, for --device if that of --python is not.",
    metavar="PATH",
)


def with_switches(command: Command, options: Mapping[str, Option] = _SWITCHES) -> Command:
    """Add the options for a run's switches to a command.

    Their values go into the command's ``overrides``.
    """

    @functools.wraps(command)
    def run(overrides: SettingOverrides, preview_python: str | None = None, **own: Any) -> Any:
        given = {name: own.pop(name) for name in options}
        try:
            re.compile(given["only"] or "")
        except re.error as error:
            raise click.BadParameter(str(error), param_hint="--only") from error
        if (discard := given.pop("discard_files")) is not None:
            given["files"] = "discard" if discard else "keep"
        switches = {name: value for name, value in given.items() if value is not None}
        return command(overrides=replace(overrides, switches=switches, preview_python=preview_python), **own)

    optioned: Command = run
    for option in reversed([*options.values()]):
        optioned = option(optioned)
    return optioned


def with_device(command: Command) -> Command:
    """Add the options for a run's switches and for previews of a GPU to a command."""
    return with_switches(_PREVIEW_PYTHON(command), {**_SWITCHES, "device": _DEVICE})
