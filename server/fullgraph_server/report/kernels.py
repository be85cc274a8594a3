"""The generated code of a report, and descriptions of kernels and launches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from fullgraph_compiler.facts import CodeGenerated, Cost, Kernel, KernelCompiled, KernelNode, Stack

from ..text.durations import duration, scaled, size
from ..text.messages import counted, first_line
from ..workspace.positions import Span
from .model import GeneratedCode, KernelLaunch, LoweredOperation

FORMS: Final = {
    "ttir": "TTIR",
    "ttgir": "TTGIR",
    "llir": "LLVM IR",
    "ptx": "PTX",
    "sass": "SASS",
    "amdgcn": "AMDGCN",
    "asm": "assembly",
}
"""Names of the languages to which kernels are compiled."""

OwnSpan = Callable[[Stack], Span | None]
"""A function that returns the innermost user code on a stack; ``None`` if there is none."""

_MOST_UNREAD = 10
_LAUNCH_SECONDS = 1e-6
"""The least seconds that a launch takes; a kernel that needs less time is launch-bound."""


def codes_of(
    written: Iterable[CodeGenerated], built: Iterable[KernelCompiled], own_span: OwnSpan
) -> tuple[GeneratedCode, ...]:
    """Return the generated code of a report, with the compiled kernels in ``built``."""
    by_name = {(fact.filename, fact.name): fact for fact in built}
    return tuple(_code(fact, by_name, own_span) for fact in written)


def by_kernel(code: GeneratedCode) -> dict[str, list[KernelLaunch]]:
    """Group launches by the name of their kernel or library function."""
    launches: dict[str, list[KernelLaunch]] = {}
    for launch in code.launches:
        launches.setdefault(launch.name, []).append(launch)
    return launches


def count_launches(launches: Iterable[KernelLaunch]) -> int:
    """Return the number of launches in a call of the graph.

    The code of each branch and loop body counts once.
    """
    return sum(launch.times for launch in launches)


def codes_words(codes: Sequence[GeneratedCode]) -> str:
    """Write the numbers of launches and pieces of code, and name unlaunched kernels."""
    if not codes:
        return "No code was written."
    launches = count_launches(launch for code in codes for launch in code.launches)
    words = f"{counted(launches, 'kernel launch', 'kernel launches')} in "
    words += counted(len(codes), "piece of code", "pieces of code")
    unread = [f"{name} of graph {code.compile_id}" for code in codes for name in code.unread]
    more = f", and {len(unread) - _MOST_UNREAD} more" if len(unread) > _MOST_UNREAD else ""
    named = ", ".join(unread[:_MOST_UNREAD]) + more
    return words + (f"; no launch was found of {named}" if unread else "")


def spans_of(launches: Iterable[KernelLaunch]) -> list[Span]:
    """Return the places of the user code that launches compute, without duplicates."""
    return list(dict.fromkeys(span for launch in launches for span in launch.spans))


def operators(launches: Sequence[KernelLaunch]) -> str:
    """List the operators that launches compute, without duplicates: ``mul, add``."""
    names = (item.operator.removeprefix("aten.") for launch in launches for item in launch.operations)
    return ", ".join(dict.fromkeys(names))


def function_words(launch: KernelLaunch) -> str:
    """Name the function of a subgraph that contains a launch: `` (in true_graph_0)``.

    The text is empty for a launch in the graph itself.
    """
    times = f", called {launch.times} times" if launch.times > 1 else ""
    return f" (in {launch.function}{times})" if launch.function else ""


def launch_words(launch: KernelLaunch, most_settings: int | None = None) -> Iterator[str]:
    """Yield lines that describe a launch: grid, arguments, settings, resources, cost.

    At most ``most_settings`` of the configurations from which autotuning would choose are listed.
    """
    built = launch.built
    if launch.arguments and launch.grid:
        yield f"launched on {launch.grid} with ({', '.join(launch.arguments)})"
    if built is not None:
        if built.problem:
            yield f"not compiled: {first_line(built.problem)}"
        yield from _settings(built, most_settings)
        if used := _resources(built):
            yield ", ".join(used)
        if built.texts:
            yield f"compiled to {', '.join(FORMS.get(language, language) for language, _ in built.texts)}"
    if launch.cost is not None:
        yield cost_words(launch.cost)


def config_words(built: KernelCompiled) -> str:
    """Describe a kernel's configuration, and how many autotuning would try."""
    if not built.others:
        return built.config
    return f"{built.config}: one of {len(built.others) + 1} settings that autotuning would try"


def total_cost(launches: Iterable[KernelLaunch]) -> Cost | None:
    """Return the total cost of launches; ``None`` if no cost is known."""
    costs = [(launch.cost, launch.times) for launch in launches if launch.cost]
    if not costs:
        return None
    flops = [cost.flops * times for cost, times in costs if cost.flops is not None]
    seconds = [cost.seconds * times for cost, times in costs if cost.seconds]
    return Cost(
        sum(cost.read * times for cost, times in costs),
        sum(cost.written * times for cost, times in costs),
        sum(flops) if flops else None,
        sum(seconds) if seconds else None,
    )


def cost_words(cost: Cost, launches: int = 1) -> str:
    """Describe the cost of launches: ``at least 1.2 us: reads 4 KiB, writes 2 KiB``."""
    parts = [f"reads {size(cost.read)}", f"writes {size(cost.written)}"]
    parts += [scaled(cost.flops, 1000, ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"))] if cost.flops else []
    if not cost.seconds:
        return ", ".join(parts)
    is_short = cost.seconds < launches * _LAUNCH_SECONDS
    return f"{'launch-bound' if is_short else f'at least {duration(cost.seconds)}'}: {', '.join(parts)}"


def _settings(built: KernelCompiled, most: int | None) -> Iterator[str]:
    if words := config_words(built):
        yield words
    yield from (f"  or {other}" for other in built.others[:most])
    left = len(built.others[most:]) if most is not None else 0
    if left:
        yield f"  or {left} more"


def _resources(built: KernelCompiled) -> list[str]:
    used = [] if built.registers is None else [counted(built.registers, "register")]
    used += [] if built.spills is None else [counted(built.spills, "spill")]
    used += [] if built.shared is None else [f"{size(built.shared)} of shared memory"]
    return used


def _code(
    fact: CodeGenerated, built: Mapping[tuple[str, str], KernelCompiled], own_span: OwnSpan
) -> GeneratedCode:
    launches = (_launch(kernel, built.get((fact.filename, kernel.name)), own_span) for kernel in fact.kernels)
    return GeneratedCode(
        fact.compile_id, fact.phase, fact.text, tuple(launches), fact.nodes, fact.language, fact.unread
    )


def _launch(kernel: Kernel, built: KernelCompiled | None, own_span: OwnSpan) -> KernelLaunch:
    return KernelLaunch(
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
        function=kernel.function,
        times=kernel.times,
    )


def _operation(node: KernelNode, own_span: OwnSpan) -> LoweredOperation:
    stack = node.stack or ((node.frame,) if node.frame else ())
    return LoweredOperation(node.name, node.operator, own_span(stack))
