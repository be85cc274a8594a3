"""The commands of the command line.

What only one command needs is imported in its function: the rest start faster without it.
"""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from fullgraph_compiler.facts import Level

from .. import __version__
from ..analyses.analysis import Analysis
from ..analyses.registry import analyses
from ..report.measured.best_variant import GOALS, Goal
from ..runs.effective_settings import Overrides
from ..traces.reading import Detail
from ..workspace.bundled import worker_folder
from ..workspace.targets import Target
from .analyses import commands
from .formats import (
    COMPARISON_FORMATS,
    DEVICES_FORMATS,
    FORMATS,
    Format,
)
from .formats.capabilities import write as write_capabilities
from .formats.kernels import write as write_kernels
from .known import KnownFindings
from .options import PYTHON, RANKS, TIMEOUT, format_option, judged, of_one_target, of_targets, of_traces
from .output import Commands
from .resolve import Asked, resolve_targets
from .switches import with_device, with_switches
from .trace import TraceOptions, compare_traces, show_examples, show_trace, trace_timeline


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fullgraph", message="%(prog)s %(version)s")
def main() -> None:
    """See what torch.compile does to your code: graph breaks, guards and recompilations."""


@main.command(no_args_is_help=True)
@of_targets
@RANKS
@format_option(FORMATS)
@judged
@with_device
def check(
    targets: Sequence[Target],
    overrides: Overrides,
    output: str,
    fail_on: str,
    known: KnownFindings | None,
) -> None:
    """Run each TARGET and report what torch.compile did.

    TARGET is a file, a thing in it that has example calls (model.py::Block), a notebook up to a code
    cell (model.ipynb::3), a module after -m, a command that a package has installed after
    --console-script, a pytest node after --pytest, or the name of a target in pyproject.toml. A file
    runs as a script, or by its example calls if it has some and no main guard; a folder stands for
    all targets in its files, each of which runs. What follows -- are arguments of the program:
    fullgraph check train.py -- --steps 3

    The exit code is 0 if nothing reaches --fail-on, 1 if something does, and 2 if a target could
    not be started. What is in the --baseline does not count.
    """
    sys.exit(_check(targets, overrides, FORMATS[output], fail_on, known=known))


@main.command(no_args_is_help=True)
@of_one_target
@RANKS
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for each form of each graph, its code and kernels, and an index.",
)
@click.option("--build", is_flag=True, help="Build the kernels, too, for their assembly.")
@with_device
def kernels(target: Target, overrides: Overrides, output: Path | None, build: bool) -> int:
    """Show which kernels TorchInductor writes for which lines.

    TARGET is named as for check. Its graphs are lowered and their code is written; without --build
    they run eagerly then, which is much faster. With --device, kernels are written and built for a
    GPU that need not be there, and nothing runs.

    The exit code is 0 if nothing fails, 1 if something does, and 2 if the target could not be
    started.
    """
    write = functools.partial(write_kernels, folder=output)
    return _check([target], overrides, write, analysis=analyses()["build" if build else "kernels"])


@main.command(no_args_is_help=True)
@of_one_target
@format_option(("text", "json"))
@click.option(
    "--fail-under",
    type=click.FloatRange(min=0, min_open=True),
    help="Exit with 1 if compiled calls are not this many times as fast as uncompiled ones.",
    metavar="RATIO",
)
@click.option(
    "--try", "tries", is_flag=True, help="Measure other ways to compile TARGET, and say which is best."
)
@click.option(
    "--best-for",
    type=click.Choice(GOALS),
    help="With --try, what matters: the time of one call, of calls in a row, or of the first start.  "
    f"[default: {GOALS[0]}]",
)
@with_switches
def speed(
    target: Target,
    overrides: Overrides,
    output: str,
    fail_under: float | None,
    tries: bool,
    best_for: Goal | None,
) -> int:
    """Show why compiled calls are not faster.

    TARGET, named as for check, runs, and its last calls of compiled functions are made again,
    compiled and uncompiled in turn. One sentence says what takes the time, a table how much of it
    guards, code between graphs, kernels and the rest take. Its file changes are discarded.

    With --try, it is compiled in other ways instead: as a whole, by its repeated block, in other
    modes, with dynamic sizes. A table shows their starts, calls and memory beside each other.

    The exit code is 0 if there is an answer, 1 if there is none or --fail-under says so, and 2 if
    the target could not be started.
    """
    from .speed import measure_target, try_target

    if tries and fail_under is not None:
        raise click.UsageError("--fail-under is for the program as it is: leave out --try")
    if best_for and not tries:
        raise click.UsageError("--best-for chooses among what --try measures: give --try, too")
    if tries:
        return try_target(target, overrides, output, best_for or GOALS[0])
    return measure_target(target, overrides, output, fail_under)


@main.command(no_args_is_help=True)
@of_one_target
@click.option(
    "--failure",
    type=click.IntRange(min=1),
    default=None,
    help="The number of the failure, as `fullgraph stages` numbers it.  [default: the first]",
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
def minify(
    target: Target,
    overrides: Overrides,
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
    from .minify import free_name, minify_target

    output = output or free_name(Path("repro.py"))
    return minify_target(target, overrides, output.absolute(), failure or 0, level)


@main.command(no_args_is_help=True)
@of_targets
@format_option(("text", "json", "diff"))
@click.option("--diff", is_flag=True, hidden=True)
@click.option("--apply", is_flag=True, help="Write the edits that were verified into the files.")
@click.option("--unsafe", is_flag=True, help="Take edits, too, that change what the program does.")
@click.option(
    "--select",
    multiple=True,
    metavar="CODE",
    help="Try fixes for this code (GB0170), or of this rule, alone.",
)
@click.option(
    "--package",
    default="",
    metavar="NAME",
    help="Look for fixes in this installed package: with --format diff as a patch for it.",
)
def fix(
    targets: Sequence[Target],
    overrides: Overrides,
    output: str,
    diff: bool,
    apply: bool,
    unsafe: bool,
    select: tuple[str, ...],
    package: str,
) -> None:
    """Search for edits that remove graph breaks and recompilations, and verify each.

    TARGET is named as for check. It runs many times, as it is and with edits, and its file changes
    are discarded: an edit is verified if its finding is gone, nothing is worse, and all results are
    equal. Nothing is written without --apply, and an installed package never.

    The exit code is 0 if nothing is left to fix, 1 if something is, and 2 if a target could not be
    started.
    """
    from ..fixes.patches import COMPILER
    from .fix import FixOptions, fix_targets
    from .formats.fixes import FIX_FORMATS

    if package and apply:
        raise click.UsageError("--package changes no installed files: --format diff writes a patch for them.")
    if package in COMPILER:
        raise click.UsageError(f"{package} is the compiler itself: name a package that it compiles.")
    if package and not package.isidentifier():
        raise click.UsageError(f"--package {package} is no name that import takes, such as transformers.")
    options = FixOptions(apply, unsafe, select, package)
    sys.exit(fix_targets(targets, overrides, FIX_FORMATS["diff" if diff else output], options))


@main.command(no_args_is_help=True)
@functools.partial(of_one_target, timeout=TIMEOUT)
@format_option(("text", "json", "diff"))
@click.option(
    "--sizes",
    "texts",
    multiple=True,
    metavar="NAME.DIM=SIZES",
    help='Sizes that are to be served, too: "x.0=1,2,7,4096".  Can be repeated.',
)
@click.option("--diff", is_flag=True, hidden=True)
@click.option("--apply", is_flag=True, help="Write the plan into the files.")
def sizes(
    target: Target, overrides: Overrides, output: str, texts: tuple[str, ...], diff: bool, apply: bool
) -> int:
    """Plan dynamic sizes: find the fewest marks with which TARGET is compiled once.

    TARGET is named as for check. It runs many times, as it is and with marks, and its file changes
    are discarded. Then its calls are made with sizes that it has not seen, small, odd and large,
    and compared with the same calls uncompiled. Nothing is written without --apply.

    The exit code is 0 if everything is compiled once and no result differs, 1 if not, and 2 if the
    target could not be started.
    """
    from .formats.sizes import SIZES_FORMATS
    from .sizes import parse_sizes, size_target

    return size_target(
        target, overrides, SIZES_FORMATS["diff" if diff else output], parse_sizes(texts), apply=apply
    )


@main.command(no_args_is_help=True)
@click.argument("code", metavar="CODE")
@PYTHON
@format_option(("text", "json"))
def explain(code: str, python: str | None, output: str) -> None:
    """Explain the CODE of a finding, and show the fixes that exist for it by an example.

    CODE is torch's id of a graph break (GB0170), or a kind of finding (recompile-limit). What a
    graph break means are the words of the torch that the project uses.
    """
    from .explain import EXPLAIN_FORMATS, explained

    EXPLAIN_FORMATS[output](explained(code, python), sys.stdout)


class _TraceGroup(click.Group):
    """Group in which ``trace PATH`` shows a trace; other commands on traces are named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = bool(args) and args[0] in self.commands
        return super().parse_args(ctx, args if named else ["show", *args])


@main.group(cls=_TraceGroup)
def trace() -> None:
    """Show what a program compiled elsewhere, from its TORCH_TRACE."""


@trace.command(no_args_is_help=True)
@click.argument("path")
@click.option("--rank", type=click.IntRange(min=0), help="Show one rank alone.", metavar="N")
@of_traces
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write a page that opens offline in a browser into this folder, with all that the trace holds.",
    metavar="FOLDER",
)
@click.option(
    "--perfetto",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write when the compiler did what, on all ranks, for https://ui.perfetto.dev; packed if the "
    "name ends in .gz.",
    metavar="FILE",
)
@format_option(FORMATS)
@judged
def show(
    path: str,
    rank: int | None,
    options: TraceOptions,
    folder: Path | None,
    perfetto: Path | None,
    output: str,
    fail_on: str,
    known: KnownFindings | None,
) -> None:
    """Show the trace at PATH on the files of the current project.

    PATH is a log that `TORCH_TRACE=FOLDER python PROGRAM` has written, or a folder with one of each
    rank; packed with gzip or not, still being written or not. It can be a tarball or zip file of
    them, or a URL that fsspec opens (s3://bucket/job/), with `pip install 'fullgraph[remote]'`.
    Files of the other machine are found in the project by their names and their text. `fullgraph
    trace diff A B` compares two traces, `fullgraph trace examples PATH` writes example calls of what
    was compiled.

    The exit code is 0 if nothing reaches --fail-on, else 1. What is in the --baseline does not
    count.
    """
    options = replace(options, rank=rank)
    if perfetto is not None:
        trace_timeline(path, options, perfetto)
    detail: Detail = "code" if folder else "graphs" if output == "json" else "findings"
    sys.exit(show_trace(path, replace(options, detail=detail), FORMATS[output], fail_on, known, folder))


@trace.command(no_args_is_help=True)
@click.argument("before")
@click.argument("after")
@of_traces
@format_option(COMPARISON_FORMATS)
def diff(before: str, after: str, options: TraceOptions, output: str) -> None:
    """Compare two traces: before and after a change, or of two versions of torch.

    The exit code is 1 if AFTER has a break, a recompilation or a failure that BEFORE has not, else 0.
    """
    sys.exit(compare_traces(before, after, replace(options, detail="code"), COMPARISON_FORMATS[output]))


@trace.command(no_args_is_help=True)
@click.argument("path")
@click.option("--rank", type=click.IntRange(min=0), help="Take one rank alone.", metavar="N")
@of_traces
def examples(path: str, rank: int | None, options: TraceOptions) -> None:
    """Write example calls of the functions that were compiled, with the inputs that the trace holds.

    Put above its function, such a comment makes it a target that runs here: the next edit can be
    checked without the machine that the trace is from. The exit code is 1 if there are none.
    """
    sys.exit(show_examples(path, replace(options, rank=rank, detail="graphs")))


@main.command()
@format_option(DEVICES_FORMATS)
@click.option(
    "--check", "checked", is_flag=True, help="Show what can be previewed with an interpreter's torch."
)
@PYTHON
def devices(output: str, checked: bool, python: str | None) -> None:
    """List the GPUs that --device knows.

    With --check, small programs are previewed for an H100 instead, and the exit code is 1 if one
    of them fails.
    """
    if not checked:
        DEVICES_FORMATS[output](sys.stdout)
        return
    # In a copy: a run does not report on functions in our own folders.
    with tempfile.TemporaryDirectory() as folder:
        program = shutil.copy(f"{worker_folder()}preview/self_test.py", folder)
        (target,) = resolve_targets(Asked((program,)), Path.cwd())
        overrides = Overrides(Path.cwd(), python, switches={"device": "h100"})
        sys.exit(_check([target], overrides, write_capabilities, analysis=analyses()["kernels"]))


@main.command()
def lsp() -> None:
    """Start the language server on stdin and stdout."""
    from ..server import main as serve

    serve()


@main.command()
@PYTHON
def mcp(python: str | None) -> None:
    """Start a server of the Model Context Protocol on stdin and stdout.

    Coding agents find and prove fixes with its tools. They see no files outside of the current
    folder, or of the folders that their client opens.
    """
    try:
        from .mcp import serve
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("mcp"):
            raise
        raise click.ClickException(
            "fullgraph mcp needs the SDK of the protocol: pip install 'fullgraph[mcp]'"
        ) from error
    serve(python)


def _check(
    targets: Sequence[Target],
    overrides: Overrides,
    write: Format,
    fail_on: str = "failure",
    known: KnownFindings | None = None,
    analysis: Analysis | None = None,
) -> int:
    # Imported late: the modules for workers take time and memory, and traces are read without them.
    from .check import check_targets

    return check_targets(targets, overrides, write, fail_on, known, analysis)


for _command in commands():
    main.add_command(_command)
