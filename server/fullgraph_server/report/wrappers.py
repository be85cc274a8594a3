"""Causes of findings in a library's wrapper around a module, not in the module.

``DistributedDataParallel`` breaks the graph before and after the forward of the wrapped module, FSDP at its
hooks, torch's optimizers around ``step``. If a ``LightningModule`` is compiled as a whole, its loggers, its
trainer and their counters are compiled, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import dropwhile
from typing import Final

from fullgraph_compiler.facts import LightningCompiled, Network, Stack, StackFrame

from ..text.hints import compile_networks
from ..workspace.definitions import called_attributes, definitions, held_attributes
from .facts_by_type import FactsByType
from .source_locator import FactLocator


@dataclass(frozen=True, slots=True)
class ModuleWrapper:
    """A wrapper of torch around a module or an optimizer's ``step``.

    ``files`` matches the names of the wrapper's source files.
    """

    name: str
    files: re.Pattern[str]
    explanation: str
    hints: tuple[str, ...] = ()


_AHEAD_OF_HOOKS: Final = (
    "Compile each block that is sharded with `block.compile()`, before `fully_shard`: then the hooks run "
    "between graphs."
)
_WRAPPERS: Final = (
    ModuleWrapper(
        "DistributedDataParallel",
        re.compile(r"[/\\]torch[/\\]nn[/\\]parallel[/\\]distributed\.py$"),
        "`DistributedDataParallel` itself breaks the graph, before and after your module: nothing in your "
        "code is the cause.",
    ),
    ModuleWrapper(
        "FSDP",
        re.compile(r"[/\\]torch[/\\]distributed[/\\](?:fsdp|_composable[/\\]fsdp)[/\\]"),
        "FSDP's hooks, which gather parameters and free them, run outside of graphs: they break the graph of "
        "a module that contains sharded modules.",
        (_AHEAD_OF_HOOKS,),
    ),
    ModuleWrapper(
        "torch.optim",
        re.compile(r"[/\\]torch[/\\]optim[/\\]optimizer\.py$"),
        "torch's optimizers themselves break the graph around `step`: nothing in your code is the cause.",
    ),
)


def wrapper_of(stack: Stack, is_own: Callable[[str], bool]) -> ModuleWrapper | None:
    """Return the wrapper that a stack enters from the innermost user code, if any."""
    below: list[str] = []
    for frame in reversed(stack):
        if is_own(frame.filename):
            break
        below.append(frame.filename)
    return next((item for item in _WRAPPERS if any(map(item.files.search, below))), None)


_LIGHTNING: Final = re.compile(
    r"[/\\](?:lightning[/\\](?:pytorch|fabric)|pytorch_lightning|lightning_fabric)[/\\]"
)
_OWN_VALUES: Final = ("L['self']._trainer.", "L['self']._fabric.")
"""Prefixes of torch's names for values that only a ``LightningModule`` has."""


class LightningModules:
    """The compiled ``LightningModule``s of a run."""

    def __init__(self, facts: FactsByType, places: FactLocator) -> None:
        self._compiled = facts.by_compile_id(LightningCompiled)
        self._places = places
        self._workspace = places.workspace

    def hints(self, stack: Stack, compile_id: str, source: str = "") -> tuple[str, ...]:
        """Advise to compile the networks of a ``LightningModule`` instead of the module.

        Return no advice if that would not remove the finding. ``stack`` is the stack of the finding,
        ``source`` is torch's name for the guarded value, if the finding is about a guard.
        """
        compiled = self._compiled.get(compile_id)
        if compiled is None or not self._is_of_library(compiled, stack, source):
            return ()
        networks = [item for item in compiled.networks if self._can_compile(item, compiled)]
        return (compile_networks(compiled.classes[0].name, networks),) if networks else ()

    def _can_compile(self, network: Network, compiled: LightningCompiled) -> bool:
        """Return whether a network is called, and can be replaced by a compiled one."""
        names = {place.filename for place in compiled.classes if self._workspace.contains(place.filename)}
        sources = {name: source for name in names if (source := self._workspace.source(name))}
        classes = (
            definitions(sources[place.filename]).classes.get(place.name)
            for place in compiled.classes
            if place.filename in sources
        )
        return any(cls and network.name in called_attributes(cls) for cls in classes) and (
            network.in_place or not any(network.name in held_attributes(item) for item in sources.values())
        )

    def _is_of_library(self, compiled: LightningCompiled, stack: Stack, source: str) -> bool:
        """Return whether a finding's cause is code of Lightning.

        Code that a network calls does not count, since it would still be compiled together with the network.
        """
        classes, contains = {place.name for place in compiled.classes}, self._workspace.contains
        full = self._places.full_stack(stack, compiled.compile_id)
        calls = list(
            dropwhile(
                lambda frame: not (self._places.is_compiled(frame) and self._class_of(frame) in classes), full
            )
        )
        if not {self._class_of(frame) for frame in calls if contains(frame.filename)} <= {*classes, ""}:
            return False
        outside = next((frame for frame in calls if not contains(frame.filename)), None)
        if outside is None:
            return bool(calls) and source.startswith(_OWN_VALUES)
        return _LIGHTNING.search(outside.filename) is not None

    def _class_of(self, frame: StackFrame) -> str:
        """Return the name of the user's class whose method a frame runs.

        Return an empty string for a frame that does not run such a method.
        """
        source = self._workspace.own_source(frame.filename)
        scopes = definitions(source) if source else None
        function = scopes.function_at(frame.row) if scopes else None
        cls = scopes.class_of(function) if scopes and function else None
        return cls.name if cls else ""
