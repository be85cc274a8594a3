"""Generated code: of the facts of a run what its report keeps, and how a launch is told in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from fullgraph_compiler.facts import CodeGenerated, Kernel, KernelCompiled, KernelNode, Stack

from .report import Code, Launch, Operation, Span

OwnSpan = Callable[[Stack], Span | None]
"""Gives the innermost code of a stack that is the user's own."""


def codes_of(
    written: Iterable[CodeGenerated], built: Iterable[KernelCompiled], own_span: OwnSpan
) -> tuple[Code, ...]:
    """The code of a report, with what became of its kernels in a run that built them."""
    by_name = {(fact.filename, fact.name): fact for fact in built}
    return tuple(_code(fact, by_name, own_span) for fact in written)


def by_kernel(code: Code) -> dict[str, list[Launch]]:
    """The launches of each kernel, and of each library function, by its name."""
    found: dict[str, list[Launch]] = {}
    for launch in code.launches:
        found.setdefault(launch.name, []).append(launch)
    return found


def spans_of(launches: Iterable[Launch]) -> list[Span]:
    """The user's code that launches compute, each piece once."""
    return list(dict.fromkeys(span for launch in launches for span in launch.spans))


def operators(launches: Sequence[Launch]) -> str:
    """What kernels compute, each operator once: ``mul, add``."""
    names = (item.operator.removeprefix("aten.") for launch in launches for item in launch.operations)
    return ", ".join(dict.fromkeys(names))


def _code(fact: CodeGenerated, built: Mapping[tuple[str, str], KernelCompiled], own_span: OwnSpan) -> Code:
    launches = (_launch(kernel, built.get((fact.filename, kernel.name)), own_span) for kernel in fact.kernels)
    return Code(fact.compile_id, fact.phase, fact.text, tuple(launches), fact.nodes)


def _launch(kernel: Kernel, built: KernelCompiled | None, own_span: OwnSpan) -> Launch:
    return Launch(
        name=kernel.name,
        language=kernel.language,
        heuristic=kernel.heuristic,
        source=kernel.source,
        rows=kernel.launch,
        definition=kernel.definition,
        operations=tuple(_operation(node, own_span) for node in kernel.nodes),
        spans=tuple(dict.fromkeys(filter(None, map(own_span, kernel.stacks)))),
        arguments=kernel.arguments,
        grid=kernel.grid,
        cost=kernel.cost,
        built=built,
    )


def _operation(node: KernelNode, own_span: OwnSpan) -> Operation:
    stack = node.stack or ((node.frame,) if node.frame else ())
    return Operation(node.name, node.operator, own_span(stack))
