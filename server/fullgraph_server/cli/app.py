"""The commands and their options."""

from __future__ import annotations

import functools
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import click
from fullgraph_compiler.facts import Level

from .. import __version__
from ..workspace.targets import Target
from .check import FAIL_ON, check_targets
from .formats import FORMATS, RECIPES_FORMATS, RECOMPILES_FORMATS, STAGES_FORMATS, Format
from .formats.kernels import write as write_kernels
from .formats.times import write as write_times
from .minify import free_name, minify_target
from .resolve import resolve_targets
from .session import RunOptions


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fullgraph", message="%(prog)s %(version)s")
def main() -> None:
    """See what torch.compile does to your code: graph breaks, guards and recompilations."""


_PYTEST = click.option("--pytest", "as_pytest", is_flag=True, help="Each TARGET is a pytest node.")
_PYTHON = click.option("--python", help="The interpreter that has torch.", metavar="PATH")
_ARGS = click.option("--args", help="Arguments of the script, in one quoted string.", metavar="STRING")
_TIMEOUT = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop a run after this time.",
    metavar="SECONDS",
)
_PATIENCE = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Take a graph that needs longer for one that hangs.  [default: 300]",
    metavar="SECONDS",
)
_MEMORY = click.option(
    "--memory",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop a run that uses more than this.  [default: three quarters of the machine's; Linux only]",
    metavar="GIB",
)


_Option: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]

_SWITCHES: Mapping[str, _Option] = {
    "dynamic": click.option(
        "--dynamic",
        type=click.Choice(["on", "off", "automatic"]),
        help="Make sizes dynamic, or static, or dynamic once they change, whatever the program says.",
    ),
    "recompile_limit": click.option(
        "--recompile-limit",
        type=click.IntRange(min=1),
        help="Compile a function this often, whatever the program says.",
        metavar="N",
    ),
    "only": click.option("--only", help="Compile functions alone whose whole name fits.", metavar="REGEX"),
    "cold_caches": click.option(
        "--cold-caches", is_flag=True, default=None, help="Take no kernel from an earlier run."
    ),
    "cpp_stacks": click.option(
        "--cpp-stacks", is_flag=True, default=None, help="Tell the C++ calls that add guards on sizes: slow."
    ),
}
"""What a run does otherwise than the program says: the attributes of ``Switches``."""


def _format(formats: Mapping[str, Format]) -> _Option:
    return click.option(
        "--format", "output", type=click.Choice(list(formats)), default="text", show_default=True
    )


def _switches(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the switches of its run."""

    @functools.wraps(command)
    def run(**own: Any) -> None:
        given = {name: own.pop(name) for name in _SWITCHES}
        _check_pattern(given["only"])
        command(switches={name: value for name, value in given.items() if value is not None}, **own)

    optioned: Callable[..., None] = run
    for option in reversed([*_SWITCHES.values()]):
        optioned = option(optioned)
    return optioned


def _check_pattern(text: str | None) -> None:
    try:
        re.compile(text or "")
    except re.error as error:
        raise click.BadParameter(str(error), param_hint="--only") from error


@main.command(no_args_is_help=True)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@_PYTEST
@_PYTHON
@_ARGS
@_TIMEOUT
@_MEMORY
@_format(FORMATS)
@click.option(
    "--fail-on",
    type=click.Choice(list(FAIL_ON)),
    default="failure",
    show_default=True,
    help="The least finding that makes the exit code 1.",
)
@_switches
def check(
    targets: tuple[str, ...],
    as_pytest: bool,
    python: str | None,
    args: str | None,
    timeout: float | None,
    memory: float | None,
    output: str,
    fail_on: str,
    switches: Mapping[str, Any],
) -> None:
    """Run each TARGET and report what torch.compile did.

    TARGET is a file, a thing in it that has example calls (model.py::Block), a pytest node after
    --pytest, or the name of a target in pyproject.toml. A file runs as a script, or by its example
    calls if it has some and no main guard.

    The exit code is 0 if nothing reaches --fail-on, 1 if something does, and 2 if a target could
    not be started.
    """
    resolved = _resolved(targets, as_pytest, args)
    options = RunOptions(python, timeout, memory, switches)
    sys.exit(check_targets(resolved, options, FORMATS[output], fail_on))


def _of_one_target(command: Callable[..., int], timeout: _Option = _PATIENCE) -> Callable[..., None]:
    """Give a command that compiles one target, step by step, its options; it returns the exit code."""

    @click.argument("target")
    @_PYTEST
    @_PYTHON
    @_ARGS
    @timeout
    @_MEMORY
    @functools.wraps(command)
    def run(
        target: str,
        as_pytest: bool,
        python: str | None,
        args: str | None,
        timeout: float | None,
        memory: float | None,
        switches: Mapping[str, Any] | None = None,
        **own: Any,
    ) -> None:
        (resolved,) = _resolved((target,), as_pytest, args)
        sys.exit(command(resolved, RunOptions(python, timeout, memory, switches or {}), **own))

    return run


@main.command(no_args_is_help=True)
@_switches
@_format(STAGES_FORMATS)
@_of_one_target
def stages(target: Target, options: RunOptions, output: str) -> int:
    """Find the stage of the compiler that is at fault.

    TARGET, named as for check, runs uncompiled, then captured by Dynamo alone; then each of its
    graphs goes through the stages of the compiler, forward and backward, and results are compared.

    The exit code is 0 if nothing is at fault, 1 if something is, and 2 if the target could not be
    started.
    """
    return check_targets([target], options, STAGES_FORMATS[output], depth="stages")


@main.command(no_args_is_help=True)
@_switches
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for each form of each graph, its code and kernels, and an index.",
)
@click.option("--build", is_flag=True, help="Build the kernels, too, for their assembly.")
@_of_one_target
def kernels(target: Target, options: RunOptions, output: Path | None, build: bool) -> int:
    """Show the kernels that TorchInductor writes, and the lines they come from.

    TARGET is named as for check. Its graphs are lowered and their code is written; without --build
    they run eagerly then, which is much faster.

    The exit code is 0 if nothing fails, 1 if something does, and 2 if the target could not be
    started.
    """
    write = functools.partial(write_kernels, folder=output)
    return check_targets([target], options, write, depth="whole" if build else "kernels")


@main.command(no_args_is_help=True)
@_switches
@_of_one_target
def times(target: Target, options: RunOptions) -> int:
    """Show why compilation is slow, and what costs speed afterwards.

    TARGET, named as for check, runs with cold compiler caches, then with warm ones, each time in
    a process of its own: a table shows both, and which part of the compiler takes how much.

    The exit code is 0 if nothing fails, 1 if something does, and 2 if the target could not be
    started.
    """
    return check_targets([target], options, write_times, depth="times")


@main.command(no_args_is_help=True)
@_switches
@_format(FORMATS)
@click.option(
    "--warm-up",
    type=click.IntRange(min=1),
    help="How many calls of each compiled function may compile.  [default: 1]",
    metavar="N",
)
@functools.partial(_of_one_target, timeout=_TIMEOUT)
def frozen(target: Target, options: RunOptions, output: str, warm_up: int | None) -> int:
    """Find the calls that would be compiled in production, after the warm-up.

    TARGET, named as for check, runs with no compilation after the first calls of each compiled
    function: what would be compiled later runs eagerly, and is told with its place and cause.

    The exit code is 0 if there is no such call and nothing fails, else 1, and 2 if the target could
    not be started.
    """
    if warm_up is not None:
        options = replace(options, switches={**options.switches, "warm_up": warm_up})
    return check_targets([target], options, FORMATS[output], depth="frozen")


@main.command(no_args_is_help=True)
@_switches
@_format(RECOMPILES_FORMATS)
@functools.partial(_of_one_target, timeout=_TIMEOUT)
def recompiles(target: Target, options: RunOptions, output: str) -> int:
    """Show why functions are compiled again, and from where.

    TARGET, named as for check, runs with one compilation kept of each function, and no limit on how
    often it may be compiled: the worst case, in which each change of a guarded value shows.

    The exit code is 0 if nothing fails, 1 if something does, and 2 if the target could not be
    started.
    """
    return check_targets([target], options, RECOMPILES_FORMATS[output], depth="recompiles")


@main.command(no_args_is_help=True)
@_switches
@_format(RECIPES_FORMATS)
@_of_one_target
def recipes(target: Target, options: RunOptions, output: str) -> int:
    """Try what torch's FAQ advises for crashes and memory.

    TARGET, named as for check, runs as it is, then with one part of the compiler off after the
    other, then uncompiled: a table shows what it gets through with, and how much memory it takes.
    Each time it may use three quarters of --memory.

    The exit code is 0 if it gets through as it is, 1 if not, and 2 if it could not be started.
    """
    return check_targets([target], options, RECIPES_FORMATS[output], depth="recipes")


@main.command(no_args_is_help=True)
@click.option(
    "--failure",
    type=click.IntRange(min=1),
    default=None,
    help="The number of the failure, as stages tells it.  [default: the first]",
    metavar="N",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write.  [default: repro.py, or repro-2.py and so on if that is there]",
)
@click.option(
    "--level",
    type=click.Choice(["dynamo", "aot"]),
    help="Take the graph that Dynamo captured, or the one that AOTAutograd made of it.  "
    "[default: what suits the failure]",
)
@_of_one_target
def minify(
    target: Target,
    options: RunOptions,
    failure: int | None,
    output: Path | None,
    level: Level | None,
) -> int:
    """Shrink a failure to a small program that needs only torch.

    TARGET is named as for check. The smallest repro so far is always in the file, so that it can be
    stopped at any time.

    The exit code is 0 if a repro was written, 1 if nothing fails, and 2 if the target could not be
    run.
    """
    output = output or free_name(Path("repro.py"))
    return minify_target(target, options, output.absolute(), failure or 0, level)


@main.command()
def lsp() -> None:
    """Start the language server on stdin and stdout."""
    from ..server import main as serve

    serve()


def _resolved(targets: tuple[str, ...], as_pytest: bool, args: str | None) -> list[Target]:
    try:
        arguments = None if args is None else tuple(shlex.split(args))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--args") from error
    return resolve_targets(targets, Path.cwd(), as_pytest, arguments)
