"""Save the captured graphs of a run as cases.

A case contains the inputs of the first call of its graph.
"""

from __future__ import annotations

import ast
import functools
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from ..compat import backend_compat, settings_compat, trace_compat
from ..compat.graph_compat import without_regions
from ..facts import GraphUnchecked
from ..observe import overlay
from ..observe.modules import own_modules
from .case import FailureCase, load, save
from .definitions import definitions
from .reading import GraphReading, UnreadableError, read_graph, read_input, without_gradient

_INDUCTOR = "torch._inductor.config"
_SAVED, _UNSAVED = ".case", ".unsaved"
_log = logging.getLogger(__name__)


class GraphKeeper:
    """A backend that runs captured graphs eagerly, and saves each graph as a case.

    The cases are files in ``folder``. :func:`saved` and :func:`unsaved` read them, even after the program's
    process has died.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._settings_before: frozenset[str] = frozenset()

    def install(self) -> None:
        """Replace every backend by this one."""
        self._settings_before = frozenset(settings_compat.changed_settings())
        backend_compat.intercept_backends(self._compile)

    def _compile(
        self, backend: Any, graph: torch.fx.GraphModule, inputs: Sequence[Any]
    ) -> Callable[..., Any]:
        self._count += 1
        path = self._folder / f"{self._count:04}{_UNSAVED}"
        compilation = _CaseOptions(
            compile_id=trace_compat.current_compile_id(),
            backend=backend,
            dynamic=any(map(_is_dynamic, inputs)),
            static=_static_dimensions(graph),
            fullgraph=trace_compat.is_fullgraph(sys._getframe()),
        )
        run: Callable[..., Any] = without_regions(graph).forward
        _report(path, compilation, "the program did not call it")
        try:
            reading = read_graph(graph)
        except UnreadableError as error:
            _report(path, compilation, str(error))
            return run
        is_called = False

        @functools.wraps(graph.forward)
        def run_and_keep(*arguments: Any) -> Any:
            nonlocal is_called
            if not is_called:
                is_called = True
                try:
                    # During the call, because Dynamo changes settings while it compiles.
                    save(_case(compilation, reading, arguments, self._settings()), path.with_suffix(_SAVED))
                    path.unlink(missing_ok=True)
                except UnreadableError as error:
                    _report(path, compilation, str(error))
                except Exception as error:  # the program must not notice
                    _log.info("a graph cannot be saved", exc_info=True)
                    _report(path, compilation, f"it cannot be saved: {type(error).__name__}: {error}")
            return run(*arguments)

        return run_and_keep

    def _settings(self) -> tuple[str, ...]:
        return tuple(line for line in settings_compat.changed_settings() if line not in self._settings_before)


def saved(folder: Path) -> list[FailureCase]:
    """Return the cases that a :class:`GraphKeeper` saved, in compilation order."""
    return [load(path) for path in sorted(folder.glob(f"*{_SAVED}"))]


def unsaved(folder: Path) -> list[GraphUnchecked]:
    """Return the graphs that a :class:`GraphKeeper` could not save, with the reasons."""
    texts = (path.read_text("utf-8") for path in sorted(folder.glob(f"*{_UNSAVED}")))
    return [GraphUnchecked(*text.split("\n", 1)) for text in texts]


@dataclass(frozen=True, slots=True)
class _CaseOptions:
    compile_id: str
    backend: Any
    dynamic: bool
    fullgraph: bool
    static: tuple[tuple[int, ...], ...]


def _case(
    compilation: _CaseOptions, reading: GraphReading, arguments: Sequence[Any], settings: tuple[str, ...]
) -> FailureCase:
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
    return FailureCase(
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


def _report(path: Path, compilation: _CaseOptions, reason: str) -> None:
    """Record why a graph is not saved."""
    path.write_text(f"{compilation.compile_id}\n{reason}", "utf-8", "backslashreplace")


def _normal(statement: str) -> str:
    return ast.unparse(ast.parse(statement))


def _global_name(backend: Any, modules: dict[str, ModuleType]) -> str:
    """Return the name of a backend at the top level of one of the program's files.

    Raises :class:`UnreadableError` if the backend has no such name.
    """
    for module in reversed(modules.values()):
        for name, value in vars(module).items():
            if value is backend:
                return name
    name = getattr(backend, "__name__", type(backend).__name__)
    raise UnreadableError(f"its backend {name} is not defined at the top level of a file")


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
    """Return the dimensions of each input that are static in Dynamo's trace.

    They come from the trace because the real inputs no longer have symbolic sizes.
    """
    traced = [node.meta.get("example_value") for node in graph.graph.find_nodes(op="placeholder")]
    shapes = (value.shape if isinstance(value, torch.Tensor) else () for value in traced)
    return tuple(
        tuple(place for place, size in enumerate(shape) if not isinstance(size, torch.SymInt))
        for shape in shapes
    )
