"""Graph breaks that come with a wrapper of torch's around a module, rather than from the user's code.

``DistributedDataParallel`` breaks the graph around the forward of its module, and cuts that graph at the
bounds of its buckets (``torch/_dynamo/backends/distributed.py``, ``DDPOptimizer``); FSDP breaks at its hooks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fullgraph_compiler.facts import Fact, GraphPart, Stack

from .finding_builder import FindingBuilder
from .speed import MakeFinding


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A wrapper of torch's around a module; ``files`` matches the files of its code."""

    name: str
    files: re.Pattern[str]
    explanation: str
    hint: str = ""

    @property
    def hints(self) -> tuple[str, ...]:
        """The advice that goes with a finding."""
        return (self.hint,) if self.hint else ()


_WRAPPERS: Final = (
    Wrapper(
        "DistributedDataParallel",
        re.compile(r"[/\\]torch[/\\]nn[/\\]parallel[/\\]distributed\.py$"),
        "`DistributedDataParallel` breaks the graph itself, ahead of your module and behind it: nothing in "
        "your code is the cause.",
    ),
    Wrapper(
        "FSDP",
        re.compile(r"[/\\]torch[/\\]distributed[/\\](?:fsdp|_composable[/\\]fsdp)[/\\]"),
        "FSDP's hooks, which gather parameters and free them, run outside of graphs: they break the graph of "
        "a module that holds sharded ones.",
        "Compile the blocks that are sharded one by one, ahead of `fully_shard`, with `block.compile()`: the "
        "hooks then lie between graphs.",
    ),
)

_BUCKETS: Final = (
    "The gradients of a bucket are sent as soon as the part of the graph that makes them has run backward, "
    "while the rest goes on: that needs a graph for each. `bucket_cap_mb` of `DistributedDataParallel` says "
    "how large a bucket is."
)


def wrapper_of(stack: Stack, is_own: Callable[[str], bool]) -> Wrapper | None:
    """Find the wrapper in whose code a stack ends, below the user's own code."""
    below: list[str] = []
    for frame in reversed(stack):
        if is_own(frame.filename):
            break
        below.append(frame.filename)
    return next((item for item in _WRAPPERS if any(map(item.files.search, below))), None)


def bucket_builders(facts: Iterable[Fact], finding: MakeFinding) -> Iterator[FindingBuilder]:
    """Build a finding for each graph that was cut at the bounds of buckets."""
    parts: dict[str, set[str]] = {}
    for fact in facts:
        if isinstance(fact, GraphPart):
            parts.setdefault(fact.compile_id, set()).add(fact.name)
    for compile_id, names in parts.items():
        message = (
            f"DistributedDataParallel cuts this graph into {len(names)}, one for each bucket of gradients"
        )
        made = finding("perf-hint", "information", message, (), compile_id, explanation=_BUCKETS)
        yield FindingBuilder(made, {compile_id})
