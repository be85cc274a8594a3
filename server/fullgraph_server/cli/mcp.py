"""The server of the Model Context Protocol: tools for coding agents, over stdio."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import click
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError as Refused
from mcp.server.mcpserver.resolve import ListRoots, Resolve
from mcp_types import ListRootsResult, ToolAnnotations
from pydantic import Field
from pygls import uris

from .. import __version__
from ..agents import answers, editing, reading
from ..agents.tool_calls import AgentRuns, ToolCall, ToolError, refusal_text, refuse_odd
from ..runs.effective_settings import SettingOverrides, resolve
from ..runs.plan import RunPlan
from ..workspace.config import read_config
from ..workspace.positions import TRACE
from ..workspace.targets import ARGUMENTS, MODULE, PYTEST, Target, trace_of, trace_target
from ..workspace.workspace import Workspace
from .options import split_arguments
from .resolve import TargetQuery, resolve_targets
from .session import workspace_root

_T = TypeVar("_T")

_TIMEOUT: Final = 300.0
"""Seconds for a run if pyproject.toml sets no limit: nobody watches the run and could stop it."""

_INSTRUCTIONS: Final = (
    "Reports what torch.compile did to PyTorch code, and proves edits: check_target finds graph breaks and "
    "recompilations, explain_finding says why, list_fixes tries known edits, try_edit proves an edit of your "
    "own without writing it. All of these except explain_finding run the user's program."
)


@dataclass(frozen=True)
class _ServerState:
    engine: AgentRuns
    overrides: SettingOverrides


async def _roots(ctx: Context[_ServerState, Any]) -> ListRoots | ListRootsResult:
    capabilities = ctx.client_capabilities
    has_roots = capabilities is not None and capabilities.roots is not None
    return ListRoots() if has_roots else ListRootsResult(roots=[])


_Context: TypeAlias = Context[_ServerState, Any]
_Roots: TypeAlias = Annotated[ListRootsResult, Resolve(_roots)]
_Target: TypeAlias = Annotated[
    str,
    Field(
        description="What to run: a file (model.py), with arguments after -- (train.py -- --steps 3), a "
        "notebook, or its first code cells (model.ipynb::3), a function or class that has example calls "
        "(model.py::Block), pytest:tests/test_model.py::test, -m package.module, the name of a target in "
        "pyproject.toml, or trace:PATH of a log that TORCH_TRACE has written."
    ),
]
_Finding: TypeAlias = Annotated[str, Field(description="The id of a finding, from check_target.")]
_Offset: TypeAlias = Annotated[
    int,
    Field(description="Run nothing; list the last run's items from this index on: those that were left out."),
]


async def check_target(
    target: _Target, ctx: _Context, roots: _Roots, offset: _Offset = 0
) -> answers.CheckAnswer:
    """Run a program once: find graph breaks, recompilations, torch.compile failures."""
    return await _called(reading.check_target, ctx, roots, target=target, offset=offset)


async def explain_finding(
    target: _Target, finding: _Finding, ctx: _Context, roots: _Roots
) -> answers.ExplainAnswer:
    """Explain a finding of the last check_target: cause, hints, source, callers.

    Runs nothing.
    """
    return await _called(reading.explain_finding, ctx, roots, target=target, finding=finding)


async def list_fixes(
    target: _Target, ctx: _Context, roots: _Roots, finding: _Finding = ""
) -> answers.FixAnswer:
    """Try known edits for one finding, or for all, and prove each. Writes nothing.

    The program runs many times, with and without each edit, and reports and results are compared.
    """
    return await _called(editing.list_fixes, ctx, roots, target=target, finding=finding)


async def try_edit(
    target: _Target,
    diff: Annotated[str, Field(description="A unified diff of files that the program imports.")],
    ctx: _Context,
    roots: _Roots,
    finding: Annotated[
        str, Field(description="The id of the finding that the edit should remove; by default any finding.")
    ] = "",
) -> answers.TryAnswer:
    """Prove an edit of your own without writing it.

    The edit is verified if a finding is gone, nothing is worse, and all results are equal; else the verdict
    says why not. The program runs several times, with and without the edit.
    """
    return await _called(editing.try_edit, ctx, roots, target=target, diff=diff, finding=finding)


async def find_recompiles(
    target: _Target, ctx: _Context, roots: _Roots, offset: _Offset = 0
) -> answers.RecompileAnswer:
    """Run a program and find why functions are recompiled, and by which calls.

    Each function keeps only one compilation: the worst case, which shows every change of a guarded value.
    """
    return await _called(reading.find_recompiles, ctx, roots, target=target, offset=offset)


async def show_kernels(
    target: _Target,
    ctx: _Context,
    roots: _Roots,
    kernel: Annotated[
        str, Field(description="The name of a kernel of the last run, to see its source; runs nothing.")
    ] = "",
    offset: _Offset = 0,
) -> answers.KernelAnswer:
    """Run a program until TorchInductor has written its kernels, and list them.

    Each kernel is listed with the lines that it computes.
    """
    return await _called(reading.show_kernels, ctx, roots, target=target, kernel=kernel, offset=offset)


async def compare_runs(
    before: Annotated[
        str, Field(description="The target whose last check_target is compared, or trace:PATH.")
    ],
    ctx: _Context,
    roots: _Roots,
    after: Annotated[
        str, Field(description="The target to run now, or trace:PATH; by default the same target.")
    ] = "",
) -> answers.CompareAnswer:
    """Run a target again after a change, and list the findings that are new or gone.

    The findings are compared with those of the target's last check.
    """
    return await _called(reading.compare_runs, ctx, roots, before=before, after=after)


_SERVED: Final = (
    check_target,
    explain_finding,
    list_fixes,
    try_edit,
    find_recompiles,
    show_kernels,
    compare_runs,
)


def create_server(python: str | None) -> MCPServer[_ServerState]:
    """Create the server without connecting it.

    ``python`` is the interpreter with torch, if given.
    """

    @asynccontextmanager
    async def lifespan(_server: MCPServer[_ServerState]) -> AsyncIterator[_ServerState]:
        engine = AgentRuns()
        try:
            yield _ServerState(engine, SettingOverrides(Path.cwd(), python))
        finally:
            await engine.close()

    server = MCPServer(
        "fullgraph",
        title="Fullgraph",
        instructions=_INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        lifespan=lifespan,
    )
    for tool in _SERVED:
        explains = tool is explain_finding
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=explains, open_world_hint=False))
    return server


def serve(python: str | None) -> None:
    """Serve one client until it disconnects or a signal arrives."""
    asyncio.run(_serve(create_server(python)))
    # The thread that reads standard input cannot be woken, so the process would not end by itself.
    sys.stdout.flush()
    os._exit(0)


async def _serve(server: MCPServer[_ServerState]) -> None:
    serving = asyncio.ensure_future(server.run_stdio_async())
    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, serving.cancel)
    await asyncio.wait({serving})


async def _called(
    tool: Callable[..., Awaitable[_T]], ctx: _Context, roots: ListRootsResult, **arguments: Any
) -> _T:
    """Call a tool, and turn a refusal into an error that the model reads."""
    served = ctx.request_context.lifespan_context
    folders = tuple(
        Path(path) for root in roots.roots if (path := uris.to_fs_path(str(root.uri))) is not None
    )
    folders = folders or (Path.cwd(),)
    told: list[asyncio.Task[None]] = []

    def progress(message: str) -> None:
        told.append(asyncio.ensure_future(ctx.report_progress(len(told) + 1, message=message)))

    call = ToolCall(served.engine, folders, partial(_plan, served.overrides, folders), progress)
    try:
        refuse_odd(arguments)
        return await tool(call, **arguments)
    except ToolError as error:
        raise Refused(refusal_text(error, arguments)) from None
    finally:
        await asyncio.gather(*told, return_exceptions=True)


async def _plan(overrides: SettingOverrides, folders: tuple[Path, ...], name: str) -> RunPlan:
    """Plan a run in a thread: planning reads and parses files."""
    return await asyncio.to_thread(_planned, overrides, folders, name)


def _planned(overrides: SettingOverrides, folders: tuple[Path, ...], name: str) -> RunPlan:
    try:
        target = _target(name, folders)
    except click.UsageError as error:
        raise ToolError(error.message) from None
    root = workspace_root(target)
    target, settings = resolve(target, read_config(root), overrides, _TIMEOUT)
    if not any(root.is_relative_to(folder) for folder in folders):
        # A project above the workspace supplies settings, but its other files must not be read.
        around = (folder for folder in folders if Path(target.filename).is_relative_to(folder))
        root = next(around, folders[0])
    return RunPlan(target, settings, Workspace(root)).of_cells()


def _target(name: str, folders: tuple[Path, ...]) -> Target:
    folder = folders[0]
    if name.startswith(TRACE):
        trace = trace_of(name)
        return trace_target(folder / trace.path, folder, trace.rank)
    path, separator, words = name.partition(ARGUMENTS)
    args = split_arguments(words if separator else None)
    asked = TargetQuery((path,))
    if path.startswith(PYTEST):
        asked = TargetQuery((path.removeprefix(PYTEST),), "pytest")
    elif path.startswith(MODULE):
        asked = TargetQuery((path.removeprefix(MODULE),), "module")
    return resolve_targets(asked, folder, args)[0]
