"""Facts about vLLM, which splits a model's graph into parts.

vLLM compiles each part for ranges of sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

from .registry import Fact


@dataclass(frozen=True, slots=True)
class VllmConfigured(Fact):
    """The start of vLLM's compilation of a graph.

    ``model`` is the model, ``prefix`` the name of the compiled module in the model. ``splitting`` are the
    operations at which vLLM splits the graph; ``cudagraphs`` is vLLM's CUDA graph mode.
    """

    compile_id: str
    model: str
    prefix: str
    splitting: tuple[str, ...]
    cudagraphs: str


@dataclass(frozen=True, slots=True)
class VllmSplit(Fact):
    """The submodules into which vLLM split a graph, in the order of execution."""

    compile_id: str
    submodules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VllmPartCompiled(Fact):
    """The compilation of a submodule by vLLM for a range of sizes.

    The range includes ``first`` and ``last``, which are often equal.
    """

    compile_id: str
    submodule: str
    first: int
    last: int
