"""Code lenses: commands that run or stop a target, and summaries of functions."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from ..analyses.inductor import INDUCTOR
from ..client.capabilities import client_command
from ..client.findings import minify_options, names_of
from ..client.projection import ProjectedFunction
from ..client.targets import target_place
from ..kinds import KINDS
from ..protocol.names import KERNELS, RECOMPILES, RUN, SHOW_TARGET, STOP
from ..report.model import Finding, FrameReport
from ..text.messages import counted
from ..workspace.source import SourceFile
from ..workspace.targets import Target, mentions_compile
from .artifacts import is_artifact
from .code_action import minify_command
from .context import ServerContext
from .kernels import CodeMap, source_lenses


def register(context: ServerContext, kernels: CodeMap) -> None:
    """Register the handler of ``textDocument/codeLens``."""
    located: dict[str, list[tuple[Target, types.Range]]] = {}

    @context.server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        if is_artifact(params.text_document.uri):
            return source_lenses(context.server, kernels, context.documents, params.text_document.uri)
        filename = context.documents.filename(params.text_document.uri)
        source = context.documents.source(filename) if filename else None
        if filename is None or source is None:
            return []
        if source.tree is not None:  # else a line is being typed: targets stay where they were
            located[filename] = list(_located(filename, source))
        lenses = [*_target_lenses(filename), *_function_lenses(filename)]
        return sorted(lenses, key=lambda lens: lens.range.start.line)

    def _located(filename: str, source: SourceFile) -> Iterator[tuple[Target, types.Range]]:
        for target in context.targets.of_file(filename):
            if target.kind == "pytest" and not mentions_compile(source.text):
                continue  # most tests do not use torch.compile
            if (place := target_place(target, source)) is not None:
                yield target, context.documents.range(place.name)

    def _target_lenses(filename: str) -> Iterator[types.CodeLens]:
        for target, place in located.get(filename, ()):
            busy = context.runs.state(target.id).run in ("queued", "running")
            stop = types.Command("■ Stop", STOP, arguments=[target.id])
            run = types.Command("▶ Analyze with Fullgraph", RUN, arguments=[target.id])
            yield types.CodeLens(place, stop if busy else run)
            report = context.runs.report(target.id)
            if not busy and report is not None and INDUCTOR in context.runs.left_out(report):
                command = types.Command(f"Run {INDUCTOR}", KERNELS, arguments=[target.id])
                yield types.CodeLens(place, command)

    def _function_lenses(filename: str) -> Iterator[types.CodeLens]:
        view = context.projections.of(filename)
        for function, row in view.functions():
            target = function.report.target
            is_as_it_ran = context.documents.has_cells_of(function.report, filename, row)
            is_stale = context.runs.state(target).stale and not is_as_it_ran
            title = summary(function.frame) + (" (stale)" if is_stale else "")
            if len(view.of_targets(function)) > 1:
                title += f" · {names_of([target])}"
            command = client_command(context.server, SHOW_TARGET, title, target)
            # A lens without a command is plain text.
            command = command or types.Command(title, "")
            place = context.documents.line_range(filename, row)
            yield types.CodeLens(place, command)
            if function.frame.recompiles and not function.report.of_trace:
                command = types.Command("Profile recompilations", RECOMPILES, arguments=[target])
                yield types.CodeLens(place, command)
            failure = _failure(function)
            options = minify_options(function.report, failure) if failure else None
            if failure and options:
                yield types.CodeLens(place, minify_command(target, options, has_graph=failure.has_graph))


def _failure(function: ProjectedFunction) -> Finding | None:
    """Return the first compiler failure in a function's compilations."""
    own = set(function.frame.compile_ids)
    failures = (finding for finding in function.report.findings if finding.minifiable)
    return next((finding for finding in failures if not own.isdisjoint(finding.compile_ids)), None)


def summary(frame: FrameReport) -> str:
    """Summarize a function's compilations in one line: graphs, breaks, guards, time."""
    parts = [
        counted(frame.graphs, "graph"),
        KINDS["graph-break"].counted(frame.breaks) if frame.breaks else "",
        counted(len(frame.guards), "guard"),
        counted(frame.kernels, "kernel") if frame.kernels else "",
        KINDS["recompile"].counted(frame.recompiles) if frame.recompiles else "",
        f"compiled in {frame.seconds:.2f} s",
    ]
    return " · ".join(filter(None, parts))
