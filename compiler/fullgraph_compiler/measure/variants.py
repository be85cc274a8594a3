"""Compile a program in other ways (variants): a replacement of ``torch.compile``.

The same call is timed for all variants. If the program compiles parts of a module, this is the call of the
outermost module that contains these parts. It is timed from its second call on, because the first call shows
which module is the outermost.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from ..facts import VariantMeasured, VariantName
from ..verify.calls import CompiledCall
from ..verify.recording import modules_of
from .keeping import CallKeeper

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
_MODES: tuple[VariantName, ...] = ("reduce-overhead", "max-autotune-no-cudagraphs")


@dataclass(frozen=True, slots=True)
class CompileUsage:
    """The modules that a program compiles, and the options that it uses for this.

    An uncompiled run shows both. ``blocks`` are the classes of submodules that compiled modules repeat, and
    ``count`` is the number of these submodules. ``roots`` are the classes of the outermost modules that
    contain compiled modules, if these outermost modules are called more than once. ``no_whole`` is the reason
    why they cannot be compiled as a whole.
    """

    calls: int
    blocks: tuple[str, ...]
    count: int
    roots: tuple[str, ...]
    no_whole: str
    backends: frozenset[object]
    modes: frozenset[object]
    dynamic: frozenset[object]
    device: str

    def variants(self) -> Iterator[VariantMeasured]:
        """Yield all variants; a variant that does not apply has the reason as ``problem``."""
        yield VariantMeasured("as-is", device=self.device)
        whole = VariantMeasured("whole", modules=self.roots, count=len(self.roots), device=self.device)
        yield _with_reason(whole, self.no_whole)
        block = VariantMeasured("block", modules=self.blocks, count=self.count, device=self.device)
        yield _with_reason(block, "" if self.blocks else "no compiled module repeats a submodule")
        unknown = "" if self.backends else "the program does not call `torch.compile` by that name"
        others = self.backends - {"inductor"}
        no_mode = unknown or (
            "the program compiles with another backend than TorchInductor" if others else ""
        )
        for name in _MODES:
            no_gpu = "it needs a GPU" if name == "reduce-overhead" and not self.device else ""
            same = "the program already does so" if self.modes == {name} else ""
            yield _with_reason(VariantMeasured(name, device=self.device), no_gpu or no_mode or same)
        same = "the program already does so" if self.dynamic == {True} else ""
        yield _with_reason(VariantMeasured("dynamic", device=self.device), unknown or same)


class VariantKeeper(CallKeeper):
    """A watcher of the calls of a program that is compiled as ``variant`` says.

    If ``variant`` is ``None``, the program runs uncompiled. With ``of_roots``, the calls of the outermost
    modules that contain the compiled modules are recorded.
    """

    def __init__(self, variant: VariantName | None, *, of_roots: bool) -> None:
        super().__init__(compiled=variant is not None)
        self._variant = variant
        self._of_roots = of_roots
        self._roots: list[nn.Module] = []
        self._seen: list[dict[str, Any]] = []
        self._functions: list[CompiledCall] = []
        self._options: dict[str, Any] = {}
        self._in_block = False
        self._compile: Callable[..., Any] = torch.compile

    def install(self) -> None:
        """Start to record calls, and compile as the variant says."""
        super().install()
        torch.compile = self._compile_as

    def begin(self, call: CompiledCall) -> None:
        """Record a call; the first call of a function shows which module contains it."""
        if all(call.function != known.function for known in self._functions):
            self._functions.append(call)
            if self._of_roots:
                self._watch_root()
        super().begin(call)

    def settle(self) -> None:
        """Stop recording, and drop calls of modules that are inside of a root.

        These were recorded before the root, the outermost module around them, was known.
        """
        self.over = True
        if not self._roots:
            return
        names = {type(root).__name__ for root in self._roots}
        self.kept = deque(kept for kept in self.kept if kept.call.owner in self._roots)
        self.timed = [timed for timed in self.timed if timed.function in names]

    def scouted(self) -> CompileUsage:
        """Return the modules and options that the program's calls have shown."""
        parts = [call for call in self._functions if call.owner not in self._roots]
        blocks = [block for call in parts for block in blocks_of(call)]
        called = [root for root in self._roots if any(kept.call.owner is root for kept in self.kept)]
        no_whole = ""
        if not self._roots:
            no_whole = "the program compiles no part of a larger module"
        elif called != self._roots:
            no_whole = "a module around the compiled parts is called only once"
        elif any(call.owner is None for call in parts):
            no_whole = "the program also compiles functions, not only modules"
        return CompileUsage(
            self.calls,
            tuple(dict.fromkeys(type(block).__name__ for block in blocks)),
            len(set(blocks)),
            tuple(dict.fromkeys(type(root).__name__ for root in called)) if called == self._roots else (),
            no_whole,
            frozenset(str(options.get("backend", "inductor")) for options in self._seen),
            frozenset(options.get("mode") for options in self._seen),
            frozenset(options.get("dynamic") for options in self._seen),
            torch.cuda.get_device_name() if torch.cuda.is_initialized() else "",
        )

    def _compile_as(self, model: Any = None, **options: Any) -> Any:
        """Replace ``torch.compile``: compile as the variant says."""
        if model is None:
            return functools.partial(self._compile_as, **options)
        self._seen.append(options)
        if self._variant in _MODES:
            options = {**options, "mode": self._variant, "options": None}
        elif self._variant == "dynamic":
            options = {**options, "dynamic": True}
        elif self._variant == "whole" and (part := _module_of(model)) is not None:
            self._watch_root_at_first_call(part, options)
            return model
        self._options = options
        return self._compile(model, **options)

    def _wrap(
        self, function: Callable[..., Any], compiled: Callable[..., Any], options: dict[str, Any]
    ) -> Callable[..., Any]:
        if self._in_block:
            return compiled
        if self._variant != "block":
            return super()._wrap(function, compiled, options)
        own, chosen = self._options, list[Callable[..., Any]]()

        @functools.wraps(compiled)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not chosen:
                blocks = blocks_of(CompiledCall(0, function, args, kwargs, options, compiled))
                for block in dict.fromkeys(blocks):
                    self._compile_block(block, own)
                chosen.append(function if blocks else compiled)
            return chosen[0](*args, **kwargs)

        return super()._wrap(function, call, options)

    def _compile_block(self, block: nn.Module, options: dict[str, Any]) -> None:
        self._in_block = True
        try:
            block.compile(**options)
        finally:
            self._in_block = False

    def _watch_root_at_first_call(self, part: nn.Module, options: dict[str, Any]) -> None:
        def watch(*_: Any) -> None:
            hook.remove()
            self._watch_root(options)

        hook = part.register_forward_pre_hook(watch)

    def _watch_root(self, options: dict[str, Any] | None = None) -> None:
        """Record the calls of the outermost running module, from its next call on.

        If ``options`` are given, also compile this module with them.
        """
        root = _outermost_module()
        if root is None or root in self._roots:
            return
        self._roots.append(root)
        forward = root.forward
        if options is not None:
            root.forward = self._compile(forward, **options)
        else:
            root.forward = super()._wrap(forward, forward, {})


def blocks_of(call: CompiledCall) -> list[nn.Module]:
    """Return the repeated submodules of the modules that a call uses.

    Blocks inside of another block are left out.
    """
    given = [value for value in (*call.args, *call.kwargs.values()) if isinstance(value, nn.Module)]
    found = [module for _, module in modules_of(call)]
    return [*dict.fromkeys(block for module in (*found, *given) for block in repeated(module))]


def repeated(module: nn.Module) -> Iterator[nn.Module]:
    """Yield the submodules of which a module has two or more of the same class.

    Submodules inside of a repeated submodule are left out.
    """
    children = [*module.children()]
    classes = Counter(type(child) for child in children if _is_block(child, within=module))
    for child in children:
        if classes[type(child)] > 1:
            yield child
        else:
            yield from repeated(child)


def _is_block(module: nn.Module, within: nn.Module) -> bool:
    """Return whether a module is a block.

    A block is a module with children that is not a container, or a user's module in a container.
    """
    if isinstance(module, _CONTAINERS):
        return False
    is_of_user = not type(module).__module__.startswith("torch.")
    return (is_of_user and isinstance(within, _CONTAINERS)) or any(True for _ in module.children())


def _with_reason(variant: VariantMeasured, reason: str) -> VariantMeasured:
    return replace(variant, problem=reason, applies=not reason)


def _module_of(model: object) -> nn.Module | None:
    """Return the module that ``torch.compile`` gets, directly or as a bound method."""
    model = getattr(model, "__self__", model)
    return model if isinstance(model, nn.Module) else None


def _outermost_module() -> nn.Module | None:
    """Return the outermost module whose ``forward`` is running, from the stack."""
    found, frame = None, sys._getframe(1)
    while (frame := frame.f_back) is not None:  # type: ignore[assignment]
        own = frame.f_locals.get("self") if frame.f_code.co_name == "forward" else None
        found = own if isinstance(own, nn.Module) else found
    return found
