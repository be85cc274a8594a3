"""Quick fixes for findings, and example calls for compiled functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from ..client.capabilities import client_command, member
from ..protocol.names import ADD_TO_BASELINE, MINIFY, RAISE_LIMIT, RECIPES, RUN, SHOW_EXPLANATION, STAGES
from ..protocol.runs import DryRunOptions
from ..workspace.config import baseline_path, read_config
from ..workspace.targets import Target
from .context import ServerContext
from .fix_actions import FIX_ALL, FixActions
from .ignore_comment import can_be_ignored, ignore_actions
from .seen_calls import SeenCallActions

_MINIFY = "Minify this failure"
_WRITE_REPRO = "Write a repro of this failure"
_STAGES = "Which stage is at fault?"
_RECIPES = "Try workarounds for a crash"
_DRY_RUN = "Dry Run"

_UNCLEAR = ("crashed", "timeout")
"""Statuses of a run for which either the compiler or the program may be the cause."""

_EXHAUSTED = ("crashed", "memory")
"""Statuses of a run that may be avoided by other compiler settings."""

_OUT_OF_MEMORY = re.compile(r"\b(OutOfMemoryError|MemoryError|can't allocate memory)\b")


def register(context: ServerContext, seen_calls: SeenCallActions, fix_actions: FixActions) -> None:
    """Register the handler of ``textDocument/codeAction``."""
    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor, FIX_ALL]
    options = types.CodeActionOptions(code_action_kinds=kinds)

    @context.server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        fixes = [
            types.CodeAction(
                command.title, types.CodeActionKind.QuickFix, diagnostics=[diagnostic], command=command
            )
            for diagnostic in params.context.diagnostics
            if diagnostic.source == "fullgraph"
            for command in _commands(diagnostic)
        ]
        return [
            *fix_actions.actions(params),
            *fixes,
            *seen_calls.actions(params),
            *ignore_actions(context.documents, params),
        ]

    def _commands(diagnostic: types.Diagnostic) -> Iterator[types.Command]:
        data = diagnostic.data
        target, kind, failure = member(data, "target"), member(data, "kind"), member(data, "minify")
        report = context.runs.report(target)
        own, status = kind == "target-error", report.status if report else None
        if failure is not None:
            has_graph = kind != "capture-error" and bool(member(failure, "compileId"))
            yield minify_command(target, failure, has_graph=has_graph)
        if own and status == "timeout" and (seconds := context.runs.raised_limit(target)):
            yield types.Command(f"Run again with a limit of {seconds:g} s", RAISE_LIMIT, arguments=[target])
        if failure is not None or (own and status in _UNCLEAR):
            yield types.Command(_STAGES, STAGES, arguments=[target])
        if _OUT_OF_MEMORY.search(diagnostic.message) or (own and status in _EXHAUSTED):
            yield types.Command(_RECIPES, RECIPES, arguments=[target])
        if own and status == "memory" and report and not report.dry:
            yield types.Command(_DRY_RUN, RUN, arguments=[target, DryRunOptions(dry_run=True)])
        uri = member(data, "explanation")
        if can_be_ignored(diagnostic) and uri and (name := baseline_of(target)):
            yield types.Command(f"Add to the baseline {name}", ADD_TO_BASELINE, arguments=[uri])
        title = f"Show the full explanation of {diagnostic.code}"
        command = client_command(context.server, SHOW_EXPLANATION, title, uri) if uri else None
        if command is not None:
            yield command

    def baseline_of(name: str) -> str:
        """Return the name of the project's baseline file; empty without a baseline."""
        target = context.targets.find(name)
        root = context.targets.workspace_of(target).root if isinstance(target, Target) else None
        path = baseline_path(read_config(root)) if root else None
        return path.name if path else ""


def minify_command(target: str, failure: Any, *, has_graph: bool) -> types.Command:
    """Return the command that writes or minifies a repro of a target's failure."""
    title = _MINIFY if has_graph else _WRITE_REPRO
    return types.Command(title, MINIFY, arguments=[target, failure])
