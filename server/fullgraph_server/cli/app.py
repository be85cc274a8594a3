"""The commands and their options."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from .. import __version__
from .check import FAIL_ON, CheckOptions, check_targets
from .formats import FORMATS
from .resolve import resolve_targets


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fullgraph", message="%(prog)s %(version)s")
def main() -> None:
    """See what torch.compile does to your code: graph breaks, guards and recompilations."""


@main.command(no_args_is_help=True)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--pytest", "as_pytest", is_flag=True, help="Each TARGET is a pytest node.")
@click.option("--python", help="The interpreter that has torch.", metavar="PATH")
@click.option("--args", help="Arguments of the script, in one quoted string.", metavar="STRING")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop a run after this time.",
    metavar="SECONDS",
)
@click.option(
    "--memory",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop a run that uses more than this.  [default: three quarters of the machine's; Linux only]",
    metavar="GIB",
)
@click.option("--format", "output", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@click.option(
    "--fail-on",
    type=click.Choice(list(FAIL_ON)),
    default="failure",
    show_default=True,
    help="The least finding that makes the exit code 1.",
)
def check(
    targets: tuple[str, ...],
    as_pytest: bool,
    python: str | None,
    args: str | None,
    timeout: float | None,
    memory: float | None,
    output: str,
    fail_on: str,
) -> None:
    """Run each TARGET and report what torch.compile did.

    TARGET is a file, a thing in it that has example calls (model.py::Block), a pytest node after
    --pytest, or the name of a target in pyproject.toml. A file runs as a script, or by its example
    calls if it has some and no main guard.

    The exit code is 0 if nothing reaches --fail-on, 1 if something does, and 2 if a target could
    not be started.
    """
    try:
        arguments = None if args is None else tuple(shlex.split(args))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--args") from error
    options = CheckOptions(python, timeout, memory, fail_on)
    resolved = resolve_targets(targets, Path.cwd(), as_pytest, arguments)
    sys.exit(check_targets(resolved, options, FORMATS[output]))


@main.command()
def lsp() -> None:
    """Start the language server on stdin and stdout."""
    from ..server import main as serve

    serve()
