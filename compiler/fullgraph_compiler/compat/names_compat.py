"""Private names of Dynamo for names in traced code, and the values bound to them.

Each docstring names the file in torch, and the supported versions (2.11 to 2.15) in which it was checked.
"""

from __future__ import annotations

import dis
import logging
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType
from typing import Any

import torch

_log = logging.getLogger(__name__)


def watch_names(hold: Callable[[Any, CodeType, str, Any, Any], None]) -> None:
    """Call ``hold`` whenever Dynamo binds a name in traced code.

    The arguments of ``hold`` are ``(graph, code, name, place, variable)``. ``graph`` is the ``OutputGraph``
    of the current attempt; ``place`` is a row and (since Python 3.11) a column, or ``None`` for parameters.
    ``InstructionTranslatorBase`` and its subclasses (``symbolic_convert.py``) look up handlers of
    instructions in ``dispatch_table``, and have values on ``stack``. When ``run`` begins, parameters are in
    ``symbolic_locals``, and contents of cells in ``SideEffects.store_attr_mutations`` (``side_effects.py``):
    2.11 to 2.15.
    """
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase
    from torch._dynamo.variables.misc import CellVariable

    def hold_safely(*binding: Any) -> None:
        try:
            hold(*binding)
        except Exception:  # the program must not see it
            _log.warning("the value of `%s` cannot be recorded", binding[2], exc_info=True)

    def held(handle: Callable[[Any, Any], Any], depth: int) -> Callable[[Any, Any], Any]:
        def store(self: Any, instruction: Any) -> Any:
            place = _place_of(self, instruction)
            if place is not None:
                hold_safely(self.output, self.f_code, instruction.argval, place, self.stack[-depth])
            return handle(self, instruction)

        return store

    classes = [InstructionTranslatorBase]
    for cls in classes:
        classes += cls.__subclasses__()
        for name, depth in _STORES.items():
            handlers, code = cls.dispatch_table, dis.opmap[name]
            handlers[code] = held(handlers[code], depth)

    run = InstructionTranslatorBase.run

    def run_with_parameters(self: Any) -> Any:
        code = self.f_code
        # Skip generators that continue, and resume functions, whose parameters are locals of the original.
        if self.instruction_pointer == 0 and not code.co_name.startswith("torch_dynamo_resume_in_"):
            for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                if (variable := self.symbolic_locals.get(name)) is not None:
                    if type(variable) is CellVariable:  # a nested function uses the parameter
                        kept = self.output.side_effects.store_attr_mutations.get(variable, {})
                        variable = kept.get("cell_contents")
                    hold_safely(self.output, code, name, None, variable)
        return run(self)

    InstructionTranslatorBase.run = run_with_parameters


_STORES = {"STORE_FAST": 1, "STORE_DEREF": 1, "STORE_GLOBAL": 1, "STORE_ATTR": 2}
"""The instructions that bind a name, each with the depth of the bound value on the stack."""


def _place_of(tracer: Any, instruction: Any) -> tuple[int, int | None] | None:
    """Return row and column of an instruction; ``None`` if Dynamo added it."""
    if not hasattr(tracer.f_code, "co_positions"):  # before Python 3.11
        return tracer.lineno, None
    place = instruction.positions
    return None if place is None or place.col_offset is None else (place.lineno, place.col_offset)


def tensor_behind(variable: Any) -> Any | None:
    """Return the fake tensor that a Dynamo variable represents.

    Return ``None`` for other variables and for unused lazy variables. A ``TensorVariable``
    (``variables/tensor.py``) has the fake tensor in the ``example_value`` of its node; its subclasses
    represent numbers and arrays. ``isinstance`` is unsuitable: it would realize a ``LazyVariableTracker``
    (``variables/lazy.py``) and add guards (torch 2.11 to 2.15).
    """
    from torch._dynamo.variables.lazy import LazyVariableTracker
    from torch._dynamo.variables.tensor import TensorVariable

    if type(variable) is LazyVariableTracker:
        variable = variable.unwrap()
    if type(variable) is not TensorVariable:
        return None
    return variable.as_proxy().node.meta.get("example_value")


def pending_graph(frame: FrameType | None) -> Any | None:
    """Return the ``OutputGraph`` that emits the current record; ``None`` if none does.

    ``output_graph.py`` (torch 2.11 to 2.15).
    """
    from torch._dynamo.output_graph import OutputGraph

    for _ in range(12):
        if frame is None or isinstance(frame.f_locals.get("self"), OutputGraph):
            return frame.f_locals["self"] if frame else None
        frame = frame.f_back
    return None


def stacks_of(graph: Any) -> Iterable[str]:
    """Return the distinct stacks of an ``OutputGraph``'s operations, as printed text.

    The nodes of ``OutputGraph.graph`` have the stack in ``meta["stack_trace"]`` (torch 2.11 to 2.15).
    """
    return dict.fromkeys(filter(None, (node.meta.get("stack_trace") for node in graph.graph.nodes)))


def symbols_of(size: Any) -> Iterator[tuple[str, str, int | None]]:
    """Yield the symbols of a size, each with its source and its value.

    A source is, for example, ``L['x'].size()[0]``; the value is that of the current trace, or ``None``.
    ``ShapeEnv`` (``torch/fx/experimental/symbolic_shapes.py``) has the sources in ``var_to_sources``, where
    ``name`` is a method or a property, and the values in ``backed_var_to_val``, earlier ``var_to_val``: 2.11
    to 2.15.
    """
    if not isinstance(size, torch.SymInt):
        return
    shapes, expression = size.node.shape_env, size.node.expr
    if shapes is None:  # a size of a nested tensor
        return
    # Versions that have the new name warn about the old name.
    name = "backed_var_to_val" if hasattr(shapes, "backed_var_to_val") else "var_to_val"
    values = getattr(shapes, name, {})
    for symbol in expression.free_symbols:
        sources = shapes.var_to_sources.get(symbol)
        name = sources[0].name if sources else ""
        value = values.get(symbol)
        # The size of a ragged dimension never has a value.
        known = None if value is None or not getattr(value, "is_Integer", True) else int(value)
        yield str(symbol), str(name() if callable(name) else name), known
