"""Failures of ranks: the rank at fault, and failures that only follow from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fullgraph_compiler.facts import Fact, ProgramRaised, RunFinished, TargetProblem

from ..text.messages import first_line

_IN_TORCH = re.compile(r"[\\/]torch[\\/]")


def has_failed(facts: Sequence[Fact]) -> bool:
    """Tell whether a process has failed, or was ended from outside."""
    end = facts[-1] if facts else None
    return isinstance(end, RunFinished) and end.status != "finished" and end.exit_code != 0


def with_consequences(facts_of: Mapping[int, Sequence[Fact]]) -> dict[int, tuple[Fact, ...]]:
    """Return the facts of each rank, without errors that another rank has caused.

    A rank that waits for a failed rank raises an error inside of torch, or Fullgraph ends it because it would
    wait for ever. Such an error or end becomes a finding of severity information.
    """
    culprit = next(
        (rank for rank, facts in facts_of.items() if has_failed(facts) and not _is_victim(facts)), None
    )
    if culprit is None:
        return {rank: tuple(facts) for rank, facts in facts_of.items()}
    return {
        rank: tuple(_excused(facts, culprit) if _is_victim(facts) else facts)
        for rank, facts in facts_of.items()
    }


def _is_victim(facts: Sequence[Fact]) -> bool:
    """Tell whether a process may have ended because another rank failed."""
    return any(_was_ended(fact) or _raised_in_torch(fact) for fact in facts)


def _was_ended(fact: Fact) -> bool:
    return isinstance(fact, RunFinished) and fact.status == "cancelled"


def _raised_in_torch(fact: Fact) -> bool:
    inner = fact.stack[-1:] if isinstance(fact, ProgramRaised) else ()
    return any(_IN_TORCH.search(frame.filename) for frame in inner)


def _excused(facts: Sequence[Fact], culprit: int) -> Iterator[Fact]:
    why = f"since rank {culprit} had failed"
    for fact in facts:
        if isinstance(fact, ProgramRaised):
            error = f"{fact.error}: {first_line(fact.message)}"
            yield TargetProblem("information", f"the program ended here, {why}: {error}", stack=fact.stack)
            continue
        if _was_ended(fact):
            yield TargetProblem("information", f"the program was ended, {why}", of_run=True)
        yield fact
