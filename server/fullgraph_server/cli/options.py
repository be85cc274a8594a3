"""Options that commands share: targets, interpreter, limits, formats, exit codes."""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import click

from ..runs.effective_settings import SettingOverrides
from ..workspace.targets import Target
from .fail_on import FAIL_ON
from .known import KnownFindings, configured_baseline
from .resolve import Named, TargetQuery, resolve_targets
from .switches import Command, Option
from .trace import TraceOptions

_MODULE = click.option(
    "-m",
    "--module",
    "named",
    flag_value="module",
    help="Run TARGET as a module, as python -m does.",
)
_CONSOLE_SCRIPT = click.option(
    "--console-script",
    "named",
    flag_value="console-script",
    help="Run TARGET, a command that a package has installed.",
)
_PYTEST = click.option("--pytest", "named", flag_value="pytest", help="Run TARGET as a pytest node.")
_LAUNCH = click.option(
    "--launch",
    help="Run this configuration of .vscode/launch.json; ${file} in it stands for TARGET.",
    metavar="NAME",
)
PYTHON = click.option("--python", help="The interpreter that has torch.", metavar="PATH")
_ARGS = click.option("--args", hidden=True)  # one quoted string; ``Command`` joins the words after --
RANKS = click.option(
    "--ranks",
    type=click.IntRange(min=1),
    help="Run the program in N processes, as torchrun does.",
    metavar="N",
)
TIMEOUT = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop a run after this time.",
    metavar="SECONDS",
)
_PATIENCE = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Treat a graph that takes longer as hanging.  [default: 300]",
    metavar="SECONDS",
)
_MEMORY = click.option(
    "--memory",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop a run that uses more than this.  [default: three quarters of the machine's; Linux only]",
    metavar="GIB",
)


def format_option(formats: Collection[str]) -> Option:
    """Return the option ``--format``, which chooses one of ``formats``."""
    return click.option(
        "--format", "output", type=click.Choice(list(formats)), default="text", show_default=True
    )


def judged(command: Command) -> Command:
    """Add the options that decide which findings make a command fail."""

    @click.option(
        "--fail-on",
        type=click.Choice(list(FAIL_ON)),
        help="The least severe finding that makes the exit code 1.  "
        "[default: failure; with --baseline, break]",
    )
    @click.option(
        "--baseline",
        type=click.Path(dir_okay=False, path_type=Path),
        help="A file of known findings, which do not count: only new findings are reported.  "
        "[default: baseline of pyproject.toml]",
    )
    @click.option(
        "--update-baseline",
        is_flag=True,
        help="Write the current findings into --baseline, and exit with 0.",
    )
    @functools.wraps(command)
    def run(fail_on: str | None, baseline: Path | None, update_baseline: bool, **own: Any) -> None:
        baseline = baseline or configured_baseline()
        if update_baseline and baseline is None:
            raise click.UsageError("--update-baseline needs --baseline FILE, the file to write")
        known = KnownFindings(baseline, update=update_baseline) if baseline else None
        fail_on = "never" if update_baseline else fail_on or ("break" if known else "failure")
        command(fail_on=fail_on, known=known, **own)

    return run


def of_targets(command: Command) -> Command:
    """Add the argument for targets, and the options that say how targets run."""
    return _running(command, -1, TIMEOUT)


def of_one_target(command: Command, timeout: Option = _PATIENCE) -> Command:
    """Add the argument for one target and its options to a command.

    The command returns the exit code.
    """

    @functools.wraps(command)
    def run(targets: Sequence[Target], **own: Any) -> None:
        (target,) = targets
        sys.exit(command(target=target, **own))

    return _running(run, 1, timeout)


def _running(command: Command, count: int, timeout: Option) -> Command:
    metavar = "TARGET" if count == 1 else "TARGET..."

    @click.argument("names", nargs=count, required=False, metavar=metavar)
    @_MODULE
    @_CONSOLE_SCRIPT
    @_PYTEST
    @_LAUNCH
    @PYTHON
    @_ARGS
    @timeout
    @_MEMORY
    @functools.wraps(command)
    def run(
        names: str | tuple[str, ...] | None,
        named: Named,
        launch: str | None,
        python: str | None,
        args: str | None,
        timeout: float | None,
        memory: float | None,
        ranks: int | None = None,
        **own: Any,
    ) -> None:
        words = (names,) if isinstance(names, str) else names or ()
        if not words and launch is None:
            raise click.UsageError(f"Missing argument '{metavar}'.")
        asked = TargetQuery(words, named, launch, folders=count != 1)
        targets = resolve_targets(asked, Path.cwd(), split_arguments(args), ranks)
        overrides = SettingOverrides(Path.cwd(), python, timeout=timeout, memory=memory)
        command(targets=targets, overrides=overrides, **own)

    return run


def split_arguments(args: str | None) -> tuple[str, ...] | None:
    """Split a quoted string into words as a shell does. Raises ``click.UsageError``."""
    try:
        return None if args is None else tuple(shlex.split(args))
    except ValueError as error:
        said = f"the arguments cannot be split into words: {error}"
        raise click.BadParameter(said, param_hint="--args") from error


def of_traces(command: Command) -> Command:
    """Add the options for reading traces to a command."""

    @click.option(
        "--map",
        "folders",
        type=(str, str),
        multiple=True,
        help="A folder on the other machine, and the same folder on this machine.",
        metavar="THERE HERE",
    )
    @click.option(
        "--scheduler",
        default="",
        help="The Dask cluster whose workers read the ranks: tcp://HOST:8786.",
        metavar="ADDRESS",
    )
    @PYTHON
    @functools.wraps(command)
    def run(folders: tuple[tuple[str, str], ...], scheduler: str, python: str | None, **own: Any) -> None:
        command(options=TraceOptions(scheduler=scheduler, folders=folders, python=python), **own)

    return run
