"""Kernels for a GPU, generated from captured graphs by another interpreter."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from fullgraph_compiler.facts import (
    Artifact,
    CodeGenerated,
    CompileFailure,
    Fact,
    FrameStarted,
    Kernel,
    KernelCompiled,
    KernelNode,
    PreviewDeferred,
    RanDry,
    RunRequest,
    Script,
    Stack,
    TargetProblem,
)

from .plan import RunJob

_MAIN: Final = """\
import pathlib
import runpy
import traceback

for path in sorted(pathlib.Path(__file__).parent.glob("graph_*.py")):
    try:
        runpy.run_path(str(path))
    except Exception:
        traceback.print_exc()
"""
"""Compiles every graph, even if an earlier graph fails: facts of the compiler report the failure."""


_MAKE: Final = (
    "Create one next to yours, with the CUDA build of torch, which includes Triton: "
    "python -m venv .venv-preview, then .venv-preview/bin/pip install torch=={release} "
    "(on Linux, PyPI has the CUDA build)."
)
_NAME: Final = (
    'Then set it: preview-python = ".venv-preview/bin/python" in pyproject.toml, '
    "fullgraph.previewPython in an editor, or --preview-python on the command line."
)


def no_preview(deferred: PreviewDeferred, torch: str) -> TargetProblem:
    """Return the problem that there is no preview environment, with how to create one."""
    message = f"no kernels for a GPU: {deferred.reason}, and there is no preview environment"
    hints = (_MAKE.format(release=torch.partition("+")[0]), _NAME)
    return TargetProblem("error", message, hints, of_run=True)


class PreviewRun:
    """One run of a program's graphs in the preview environment. Execute it once."""

    def __init__(self, job: RunJob, deferred: PreviewDeferred, python: str, torch: str) -> None:
        plan = job.plan
        self._torch = torch
        self._folder = tempfile.TemporaryDirectory(prefix="fullgraph-preview-")
        self._files = {
            str(Path(self._folder.name) / f"graph_{index:04}.py"): graph
            for index, graph in enumerate(deferred.graphs)
        }
        main = str(Path(self._folder.name) / "main.py")
        settings = replace(plan.settings, python=python, cwd=Path(self._folder.name))
        request = RunRequest(job.generation, Script(main), job.depth)
        Path(main).write_text(_MAIN)
        for filename, graph in self._files.items():
            Path(filename).write_text(graph.text)
        self._run = job.engine.run(replace(plan, settings=settings), request, job.on_output)
        self._places = {filename: dict(graph.places) for filename, graph in self._files.items()}
        self._compile_ids: dict[str, str] = {}
        """Compile ids of the program, by compile ids of the preview environment."""

    def cancel(self) -> None:
        """End the run now."""
        self._run.cancel()

    async def execute(self, on_facts: Callable[[Sequence[Fact]], None]) -> None:
        """Compile the graphs.

        ``on_facts`` gets the facts as if the program's own torch had compiled the graphs.
        """
        with self._folder:
            await self._run.execute(lambda facts: on_facts(self._of_program(facts)))

    def _of_program(self, facts: Sequence[Fact]) -> list[Fact]:
        for fact in facts:
            if isinstance(fact, FrameStarted) and fact.filename in self._files:
                self._compile_ids[fact.compile_id] = self._files[fact.filename].compile_id
        return [translated for fact in facts if (translated := self._translated(fact)) is not None]

    def _translated(self, fact: Fact) -> Fact | None:
        """Translate a fact of the preview into a fact of the program.

        Returns ``None`` for a fact about the preview's own files.
        """
        if isinstance(fact, RanDry):
            return replace(fact, unknown=(*self._other_torch(), *fact.unknown))
        if isinstance(fact, (KernelCompiled, TargetProblem)):
            return fact
        if isinstance(fact, (Artifact, CodeGenerated, CompileFailure)):
            compile_id = self._compile_ids.get(fact.compile_id)
            if compile_id is None:
                return None
            fact = replace(fact, compile_id=compile_id)
        if isinstance(fact, CodeGenerated):
            nodes = tuple(map(self._node, fact.nodes))
            return replace(fact, nodes=nodes, kernels=tuple(map(self._kernel, fact.kernels)))
        if isinstance(fact, CompileFailure):
            return replace(fact, stack=self._stack(fact.stack))
        return fact if isinstance(fact, Artifact) else None

    def _kernel(self, kernel: Kernel) -> Kernel:
        stacks = tuple(filter(None, map(self._stack, kernel.stacks)))
        return replace(kernel, nodes=tuple(map(self._node, kernel.nodes)), stacks=stacks)

    def _node(self, node: KernelNode) -> KernelNode:
        stack = self._stack(node.stack or ((node.frame,) if node.frame else ()))
        return replace(node, frame=stack[-1] if stack else None, stack=stack)

    def _stack(self, stack: Stack) -> Stack:
        """Translate a stack that ends in a graph's line to the program's stack."""
        for frame in reversed(stack):
            if frame.filename in self._places:
                return self._places[frame.filename].get(frame.row, ())
        return ()

    def _other_torch(self) -> tuple[str, ...]:
        theirs = self._run.torch.partition("+")[0]
        if theirs in ("", self._torch.partition("+")[0]):
            return ()
        return (f"The kernels are those of torch {theirs}; the program runs with torch {self._torch}.",)
