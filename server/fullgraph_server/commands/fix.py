"""The command ``fullgraph.tryFixes``: tries fixes for a target's findings."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from lsprotocol import types

from ..client.arguments import misuse, named_target, refusal
from ..client.messages import show_message
from ..client.progress import WorkDoneProgress
from ..features.context import ServerContext
from ..features.explanation import asked_finding
from ..fixes.proofs import CannotProveError, TargetProof
from ..protocol.names import TRY_FIXES
from ..text.messages import counted

_EARLY = ("not-started", "cancelled", "crashed", "timeout", "memory")
"""Statuses of a run whose report is too incomplete for fixes."""


def register(context: ServerContext) -> None:
    """Register the command ``fullgraph.tryFixes``."""
    numbers = itertools.count(1)

    @context.server.command(TRY_FIXES)
    async def try_fixes(*args: Any) -> int:
        if len(args) not in (1, 2) or not all(isinstance(item, str) for item in args):
            raise misuse(
                f"{TRY_FIXES} takes the URI of a file or the id of a target, and optionally a finding's URI."
            )
        target = named_target(context.targets, args[0])
        only = asked_finding(TRY_FIXES, args[1], context.runs)[1] if len(args) == 2 else None
        token, message = f"fullgraph-fix-{next(numbers)}", f"trying fixes for {target.label}"
        progress = WorkDoneProgress(context.server, token, message, lambda: context.proofs.stop(target.id))
        try:
            proved = await context.proofs.prove(
                target.id, lambda step: progress.report(f"{message}: {step}"), only
            )
        except CannotProveError as error:
            raise refusal(str(error)) from error
        finally:
            progress.end(f"{target.label}: fixes tried")
        if proved is None:
            return 0
        if only is not None:
            proved = replace(proved, tried=proved.tried[-1:])
        show_message(context.server, types.MessageType.Info, outcome(proved))
        return sum(tried.best() is not None for tried in proved.tried)


def outcome(proved: TargetProof) -> str:
    """Summarize in one sentence which fixes were verified, or why no fix was."""
    if proved.nondeterminism:
        return f"No fix can be verified: {proved.nondeterminism}."
    verified = sum(tried.best() is not None for tried in proved.tried)
    if verified == len(proved.tried) == 1:
        return "A fix is verified: apply it with the light bulb."
    if verified:
        of = counted(len(proved.tried), "finding")
        return f"Verified fixes for {verified} of {of}: apply them with the light bulb on each."
    tries = [item for tried in proved.tried for item in tried.tries]
    if not tries and proved.base.report.status in _EARLY:
        return f"No fix can be tried: the run ended early ({proved.base.report.status})."
    if not tries:
        refused = next((tried.refused for tried in proved.tried if tried.refused), "")
        return f"No edit is known for these findings{f': {refused}' if refused else ''}."
    return f"No fix was verified: {tries[0].fix.title}: {tries[0].verdict.reason}."
