"""Memory at the peak of compiled calls, by the user code that allocates it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from fullgraph_compiler.facts import CodeGenerated, Kernel, MemoryHeld, MemoryMeasured

from ...workspace.positions import Span
from ..facts_by_type import FactsByType
from ..source_locator import FactLocator
from .model import HeldMemory


def held_memory(memory: MemoryMeasured, facts: FactsByType, places: FactLocator) -> Iterator[HeldMemory]:
    """Yield the memory that each place in user code holds, the largest first."""
    codes = {fact.filename: fact for fact in facts.of(CodeGenerated)}
    sizes: dict[Span, int] = defaultdict(int)
    for held in memory.held:
        kernel = _written_by(held, codes.get(held.filename))
        spans = (places.own_span(stack) for stack in reversed(kernel.stacks)) if kernel else iter(())
        span = next(filter(None, spans), None)
        if span is not None:
            sizes[span] += held.size
    for span, size in sorted(sizes.items(), key=lambda item: -item[1]):
        yield HeldMemory(size, span)


def _written_by(held: MemoryHeld, code: CodeGenerated | None) -> Kernel | None:
    """Return the first kernel with an argument that a row of the code allocates."""
    lines = code.text.splitlines() if code else []
    if code is None or held.row > len(lines):
        return None
    assigned = lines[held.row - 1].partition(" = ")[0].strip()
    after = (kernel for kernel in code.kernels if kernel.launch[0] >= held.row)
    name = re.compile(rf"\b{re.escape(assigned)}\b")
    return next((item for item in after if any(name.search(text) for text in item.arguments)), None)
