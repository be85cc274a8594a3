"""Facts about vLLM, which splits the graph of a model and compiles its parts for ranges of sizes."""

from __future__ import annotations

from dataclasses import dataclass

from .registry import Fact


@dataclass(frozen=True, slots=True)
class VllmConfigured(Fact):
    """The start of vLLM's compilation of a graph of ``model``, whose module is named ``prefix``.

    ``splitting`` are the operations at which vLLM splits the graph; ``cudagraphs`` is its CUDA graph mode.
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
    """The compilation of a submodule for the sizes from ``first`` to ``last``, often one size."""

    compile_id: str
    submodule: str
    first: int
    last: int
