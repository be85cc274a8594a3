"""Collection of the graphs that a program's run captures, with the inputs of their first calls, as cases."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from ..compat import backend_compat, settings_compat, trace_compat
from ..observe import overlay
from ..observe.modules import own_modules
from .case import Case, save
from .definitions import definitions
from .reading import Reading, UnreadableError, read_graph, read_input, without_gradient

_INDUCTOR = "torch._inductor.config"


class GraphKeeper:
    """A backend that runs captured graphs eagerly, and saves each as a case in ``folder``.

    ``on_problem`` receives a message for each graph that cannot be saved.
    """

    def __init__(self, folder: Path, on_problem: Callable[[str], None]) -> None:
        self._folder = folder
        self._on_problem = on_problem
        self._count = 0
        self._settings_before: frozenset[str] = frozenset()

    def install(self) -> None:
        """Replace every backend."""
        self._settings_before = frozenset(settings_compat.changed_settings())
        backend_compat.intercept_backends(self._compile)

    def _compile(
        self, backend: Any, graph: torch.fx.GraphModule, inputs: Sequence[Any]
    ) -> Callable[..., Any]:
        self._count += 1
        path = self._folder / f"{self._count:04}.case"
        compilation = _Compilation(
            compile_id=trace_compat.current_compile_id(),
            backend=backend,
            dynamic=any(map(_is_dynamic, inputs)),
            static=_static_dimensions(graph),
            fullgraph=trace_compat.is_fullgraph(sys._getframe()),
        )
        run: Callable[..., Any] = graph.forward
        try:
            reading = read_graph(graph)
        except UnreadableError as error:
            self._report(compilation, error)
            return run

        @functools.wraps(run)
        def run_and_keep(*arguments: Any) -> Any:
            if not path.exists():
                path.touch()
                try:
                    # At the call, since Dynamo changes settings while it compiles.
                    save(_case(compilation, reading, arguments, self._settings()), path)
                except UnreadableError as error:
                    self._report(compilation, error)
            return run(*arguments)

        return run_and_keep

    def _settings(self) -> tuple[str, ...]:
        return tuple(line for line in settings_compat.changed_settings() if line not in self._settings_before)

    def _report(self, compilation: _Compilation, error: UnreadableError) -> None:
        self._on_problem(f"graph {compilation.compile_id} cannot be saved: {error}")


@dataclass(frozen=True, slots=True)
class _Compilation:
    compile_id: str
    backend: Any
    dynamic: bool
    fullgraph: bool
    static: tuple[tuple[int, ...], ...]


def _case(
    compilation: _Compilation, reading: Reading, arguments: Sequence[Any], settings: tuple[str, ...]
) -> Case:
    modules = own_modules()
    backend, options = backend_compat.unwrapped_backend(compilation.backend)
    wanted = set(reading.wanted)
    is_name = isinstance(backend, str)
    if not is_name:
        backend = _global_name(backend, modules)
    # The program may have registered the backend under this name.
    wanted.add(backend.partition(".")[0])
    texts = {name: source for name in modules if (source := _source(name)) is not None}
    values = zip(reading.graph.parameters, (*arguments, *reading.constants), strict=True)
    inputs = tuple(read_input(name, value) for name, value in values)
    preamble = definitions(texts, wanted)
    in_preamble = set(map(_normal, preamble))
    return Case(
        level="dynamo",
        backend=backend,
        graph=reading.graph,
        inputs=inputs if torch.is_grad_enabled() else tuple(map(without_gradient, inputs)),
        preamble=preamble,
        settings=(
            *(line for line in settings if _normal(line) not in in_preamble),
            *(f"{_INDUCTOR}.{name.replace('-', '_')} = {value!r}" for name, value in options.items()),
        ),
        backend_is_code=not is_name,
        dynamic=compilation.dynamic,
        fullgraph=compilation.fullgraph,
        compile_id=compilation.compile_id,
        static=compilation.static if compilation.dynamic else (),
    )


def _normal(statement: str) -> str:
    return ast.unparse(ast.parse(statement))


def _global_name(backend: Any, modules: dict[str, ModuleType]) -> str:
    """Return the name of a backend at the top level of one of the program's files.

    Raises :class:`UnreadableError` if it has none.
    """
    for module in reversed(modules.values()):
        for name, value in vars(module).items():
            if value is backend:
                return name
    name = getattr(backend, "__name__", type(backend).__name__)
    raise UnreadableError(f"its backend {name} has no name at the top level of a file")


def _source(filename: str) -> str | None:
    try:
        return overlay.read(filename).decode("utf-8", "replace")
    except OSError:
        return None


def _is_dynamic(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return any(isinstance(size, torch.SymInt) for size in (*value.shape, *value.stride()))
    return isinstance(value, (torch.SymInt, torch.SymFloat))


def _static_dimensions(graph: torch.fx.GraphModule) -> tuple[tuple[int, ...], ...]:
    """Return the static dimensions of each input in Dynamo's trace; real inputs have numbers for symbols."""
    traced = [node.meta.get("example_value") for node in graph.graph.find_nodes(op="placeholder")]
    shapes = (value.shape if isinstance(value, torch.Tensor) else () for value in traced)
    return tuple(
        tuple(place for place, size in enumerate(shape) if not isinstance(size, torch.SymInt))
        for shape in shapes
    )
