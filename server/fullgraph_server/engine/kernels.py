"""Generated code: of a fact what a report keeps, and of a report the files that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fullgraph_compiler.facts import CodeGenerated, Stack

from .report import Code, Launch, Report, Span

_SUFFIXES = {"triton": "py", "cpp": "cpp", "metal": "metal", "cuda": "cu"}


@dataclass(frozen=True, slots=True)
class KernelFile:
    """A kernel's own text, or the whole code of a graph if it is of no ``launches``' kernel alone."""

    name: str
    text: str
    code: Code
    launches: tuple[Launch, ...] = ()


def code_of(fact: CodeGenerated, own_span: Callable[[Stack], Span | None]) -> Code:
    """The code of a report. ``own_span`` gives the innermost line of a stack that is the user's own."""
    launches = (
        Launch(
            name=kernel.name,
            language=kernel.language,
            heuristic=kernel.heuristic,
            source=kernel.source,
            rows=kernel.launch,
            definition=kernel.definition,
            operators=tuple(node.operator for node in kernel.nodes),
            spans=tuple(dict.fromkeys(filter(None, map(own_span, kernel.stacks)))),
        )
        for kernel in fact.kernels
    )
    return Code(fact.compile_id, fact.phase, fact.text, tuple(launches))


def kernel_files(report: Report) -> Iterator[KernelFile]:
    """The whole code of each graph, followed by that of each of its kernels."""
    for code in report.codes:
        stem = f"{code.compile_id.replace('/', '_')}_{code.phase}"
        yield KernelFile(f"{stem}.py", code.text, code)
        for name, launches in _by_kernel(code).items():
            if launches[0].source:
                suffix = _SUFFIXES.get(launches[0].language, "txt")
                text = launches[0].source + "\n"
                yield KernelFile(f"{stem}/{name}.{suffix}", text, code, tuple(launches))


def operators(launches: Sequence[Launch]) -> str:
    """What kernels compute, each operator once: ``mul, add``."""
    names = (name.removeprefix("aten.") for launch in launches for name in launch.operators)
    return ", ".join(dict.fromkeys(names))


def _by_kernel(code: Code) -> dict[str, list[Launch]]:
    found: dict[str, list[Launch]] = {}
    for launch in code.launches:
        found.setdefault(launch.name, []).append(launch)
    return found
