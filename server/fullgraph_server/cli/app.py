"""The commands of the command line.

A module that only one command needs is imported in that command, so that the other commands start faster.
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
from ..runs.effective_settings import SettingOverrides
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
from .output import EscapingGroup
from .resolve import TargetQuery, resolve_targets
from .switches import with_device, with_switches
from .trace import TraceOptions, compare_traces, show_examples, show_trace, trace_timeline


@click.group(cls=EscapingGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fullgraph", message="%(prog)s %(version)s")
def main() -> None:
    """See what torch.compile does to your code: graph breaks, guards, recompilations."""


@main.command(no_args_is_help=True)
@of_targets
@RANKS
@format_option(FORMATS)
@judged
@with_device
def check(
    targets: Sequence[Target],
    overrides: SettingOverrides,
    output: str,
    fail_on: str,
    known: KnownFindings | None,
) -> None:
    """Run each TARGET and report what torch.compile did.

    TARGET is a file, a function or class in a file that has example calls (model.py::Block), a
    notebook up to a code cell (model.ipynb::3), a module after -m, an installed command after
    --console-script, a pytest node after --pytest, or the name of a target in pyproject.toml. A file
    runs as a script, or by its example calls if it has some and no main guard. For a folder, all
    targets in its files run. Arguments of the program follow --:
    fullgraph check train.py -- --steps 3

    The exit code is 0 if no finding reaches --fail-on, 1 if one does, and 2 if a target could not be
    started. Findings in the --baseline do not count.
    """
    sys.exit(_check(targets, overrides, FORMATS[output], fail_on, known=known))


@main.command(no_args_is_help=True)
@of_one_target
@RANKS
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write each form of each graph, its code and kernels, and an index into this folder.",
)
@click.option("--build", is_flag=True, help="Also build the kernels, to get their assembly.")
@with_device
def kernels(target: Target, overrides: SettingOverrides, output: Path | None, build: bool) -> int:
    """Show which kernels TorchInductor writes for which lines.

    TARGET (see fullgraph check) runs; TorchInductor lowers its graphs and writes their code. Without
    --build the graphs then run eagerly, which is much faster. With --device, kernels are written and
    built for a GPU that this machine need not have, and no kernel runs.

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
    help="With --try, what to optimize: the time of one call, of calls in a row, or of the first start.  "
    f"[default: {GOALS[0]}]",
)
@with_switches
def speed(
    target: Target,
    overrides: SettingOverrides,
    output: str,
    fail_under: float | None,
    tries: bool,
    best_for: Goal | None,
) -> int:
    """Show why compiled calls are not faster.

    TARGET (see fullgraph check) runs. Then its last calls of compiled functions are repeated, compiled
    and uncompiled in turn. One sentence names what takes the time; a table shows how much of it
    guards, code between graphs, kernels and the rest take. File changes of TARGET are discarded.

    With --try, TARGET is compiled in other ways instead: as a whole, by its repeated block, in other
    modes, with dynamic sizes. A table compares their start times, call times and memory.

    The exit code is 0 if there is a result, 1 if there is none or it is below --fail-under, and 2 if
    the target could not be started.
    """
    from .speed import measure_target, try_target

    if tries and fail_under is not None:
        raise click.UsageError("--fail-under applies to the unmodified program: leave out --try")
    if best_for and not tries:
        raise click.UsageError("--best-for chooses among the ways that --try measures: add --try")
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
    help="The file to write.  [default: repro.py, or repro-2.py and so on if that exists]",
)
@click.option(
    "--level",
    type=click.Choice(["dynamo", "aot"]),
    help="Minify the graph that Dynamo captured, or the one that AOTAutograd built from it.  "
    "[default: depends on the failure]",
)
def minify(
    target: Target,
    overrides: SettingOverrides,
    failure: int | None,
    output: Path | None,
    level: Level | None,
) -> int:
    """Shrink a failure to a small program that needs only torch.

    For TARGET, see fullgraph check. The output file always contains the smallest repro so far, so you can
    stop the command at any time.

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
@click.option("--apply", is_flag=True, help="Write the verified edits into the files.")
@click.option(
    "--moves-output", is_flag=True, help="Also use edits after which text is printed later or earlier."
)
@click.option("--unsafe", is_flag=True, help="Also use edits that change what the program does.")
@click.option(
    "--select",
    multiple=True,
    metavar="CODE",
    help="Try only fixes for this code (GB0170) or of this rule.  Can be repeated.",
)
@click.option(
    "--package",
    default="",
    metavar="NAME",
    help="Look for fixes in this installed package; --format diff writes them as a patch.",
)
def fix(
    targets: Sequence[Target],
    overrides: SettingOverrides,
    output: str,
    diff: bool,
    apply: bool,
    moves_output: bool,
    unsafe: bool,
    select: tuple[str, ...],
    package: str,
) -> None:
    """Search for edits that remove graph breaks and recompilations, and verify each.

    TARGET (see fullgraph check) runs many times, unmodified and with edits, and its file changes
    are discarded. An edit is verified if its finding is gone, nothing is worse, and all results are
    equal. Without --apply nothing is written; files of an installed package are never written.

    The exit code is 0 if nothing is left to fix, 1 if something is, and 2 if a target could not be
    started.
    """
    from ..fixes.patches import COMPILER
    from .fix import FixOptions, fix_targets
    from .formats.fixes import FIX_FORMATS

    if package and apply:
        raise click.UsageError("--package never changes installed files: --format diff writes a patch.")
    if package in COMPILER:
        raise click.UsageError(f"{package} is the compiler itself: name a package that it compiles.")
    if package and not package.isidentifier():
        raise click.UsageError(f"--package {package} is not an importable name, such as transformers.")
    options = FixOptions(apply, moves_output, unsafe, select, package)
    sys.exit(fix_targets(targets, overrides, FIX_FORMATS["diff" if diff else output], options))


@main.command(no_args_is_help=True)
@functools.partial(of_one_target, timeout=TIMEOUT)
@format_option(("text", "json", "diff"))
@click.option(
    "--sizes",
    "texts",
    multiple=True,
    metavar="NAME.DIM=SIZES",
    help='Sizes that the program must also support: "x.0=1,2,7,4096".  Can be repeated.',
)
@click.option("--diff", is_flag=True, hidden=True)
@click.option("--apply", is_flag=True, help="Write the plan into the files.")
def sizes(
    target: Target, overrides: SettingOverrides, output: str, texts: tuple[str, ...], diff: bool, apply: bool
) -> int:
    """Plan dynamic sizes: find the fewest mark_dynamic calls to compile TARGET once.

    TARGET (see fullgraph check) runs many times, unmodified and with marks, and its file changes
    are discarded. Then its calls are repeated with sizes that it has not used (small, odd and large),
    and compared with the same calls uncompiled. Nothing is written without --apply.

    The exit code is 0 if every function is compiled once, no result differs and all --sizes were
    tried, 1 if not, and 2 if the target could not be started.
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
    """Explain the CODE of a finding, and show each known fix for it on an example.

    CODE is torch's id of a graph break (GB0170), or a kind of finding (recompile-limit). A graph
    break is explained in the words of the torch that the project uses.
    """
    from .explain import EXPLAIN_FORMATS, explained

    EXPLAIN_FORMATS[output](explained(code, python), sys.stdout)


class _TraceGroup(click.Group):
    """A command group that takes ``trace PATH`` as ``trace show PATH``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = bool(args) and args[0] in self.commands
        return super().parse_args(ctx, args if named else ["show", *args])


@main.group(cls=_TraceGroup)
def trace() -> None:
    """Show the graph breaks and recompilations in a TORCH_TRACE log."""


@trace.command(no_args_is_help=True)
@click.argument("path")
@click.option("--rank", type=click.IntRange(min=0), help="Show only this rank.", metavar="N")
@of_traces
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write everything in the trace into this folder, with a page that opens offline in a browser.",
    metavar="FOLDER",
)
@click.option(
    "--perfetto",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a timeline of the compiler's steps on all ranks, for https://ui.perfetto.dev; gzipped "
    "if the name ends in .gz.",
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
    """Show the trace at PATH, with its findings in the files of the current project.

    PATH is a log that `TORCH_TRACE=FOLDER python PROGRAM` wrote, or a folder with one log for each
    rank. Logs can be gzipped, and can still grow. PATH can also be a tarball or zip file of logs, or
    a URL that fsspec opens (s3://bucket/job/), with `pip install 'fullgraph[remote]'`. Files of the
    other machine are matched with files of the project by name and text. `fullgraph trace diff A B`
    compares two traces, and `fullgraph trace examples PATH` writes example calls of the compiled
    functions.

    The exit code is 0 if no finding reaches --fail-on, else 1. Findings in the --baseline do not
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

    The exit code is 1 if AFTER has a break, a recompilation or a failure that BEFORE does not have, else 0.
    """
    sys.exit(compare_traces(before, after, replace(options, detail="code"), COMPARISON_FORMATS[output]))


@trace.command(no_args_is_help=True)
@click.argument("path")
@click.option("--rank", type=click.IntRange(min=0), help="Use only this rank.", metavar="N")
@of_traces
def examples(path: str, rank: int | None, options: TraceOptions) -> None:
    """Write example calls of the compiled functions, with inputs from the trace.

    An example is a comment. Put it above its function, and the function is a target that runs here:
    you can check the next edit without the machine that wrote the trace. The exit code is 1 if there
    are no examples.
    """
    sys.exit(show_examples(path, replace(options, rank=rank, detail="graphs")))


@main.command()
@format_option(DEVICES_FORMATS)
@click.option(
    "--check", "checked", is_flag=True, help="Check which kernels the torch of --python can preview."
)
@PYTHON
def devices(output: str, checked: bool, python: str | None) -> None:
    """List the GPUs that --device accepts.

    With --check, small programs are previewed for an H100 instead, and the exit code is 1 if one
    of them fails.
    """
    if not checked:
        DEVICES_FORMATS[output](sys.stdout)
        return
    # A copy, since a run does not report on functions in Fullgraph's own folders.
    with tempfile.TemporaryDirectory() as folder:
        program = shutil.copy(f"{worker_folder()}preview/self_test.py", folder)
        (target,) = resolve_targets(TargetQuery((program,)), Path.cwd())
        overrides = SettingOverrides(Path.cwd(), python, switches={"device": "h100"})
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

    Its tools let coding agents find and prove fixes. The tools read no files outside the current
    folder, or outside the folders that the agent's client opens.
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
    overrides: SettingOverrides,
    write: Format,
    fail_on: str = "failure",
    known: KnownFindings | None = None,
    analysis: Analysis | None = None,
) -> int:
    # Imported late: the modules for workers take time and memory, and reading a trace does not need them.
    from .check import check_targets

    return check_targets(targets, overrides, write, fail_on, known, analysis)


for _command in commands():
    main.add_command(_command)
