"""Facts about vLLM, which splits the graph of a model and compiles its parts for ranges of sizes."""

from __future__ import annotations

from dataclasses import dataclass

from .registry import Fact


@dataclass(frozen=True, slots=True)
class VllmConfigured(Fact):
    """vLLM begins to compile a graph: of ``model``, whose module has the name ``prefix``.

    ``splitting`` are the operations at which it is split, ``cudagraphs`` is the mode of CUDA graphs.
    """

    compile_id: str
    model: str
    prefix: str
    splitting: tuple[str, ...]
    cudagraphs: str


@dataclass(frozen=True, slots=True)
class VllmSplit(Fact):
    """The submodules into which vLLM has split a graph, in the order in which they run."""

    compile_id: str
    submodules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VllmPartCompiled(Fact):
    """A submodule is compiled for the sizes from ``first`` to ``last``, often one size."""

    compile_id: str
    submodule: str
    first: int
    last: int
