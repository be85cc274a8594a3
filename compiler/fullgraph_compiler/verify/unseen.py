"""Repeat a program's compiled calls with sizes that the program did not use.

The calls are repeated after the program. Requested sizes come first; for these, functions are compiled as in
the program. Unrequested sizes follow; for these, nothing is compiled: they show what the existing compiled
code does at sizes that it was not compiled for. Each call is compared with the same call uncompiled.
"""

from __future__ import annotations

import contextlib
import functools
import io
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ..compat import dynamo_compat
from ..facts import AddedSizes, SizeOutcome, SizeTried
from .calls import CallWatcher, CompiledCall
from .comparing import compared
from .recording import (
    gradients_of,
    inputs_of,
    modules_of,
    new_record,
    random_states,
    set_seeds,
    tensors_in,
)
from .resizing import (
    ArgumentMaker,
    ArgumentSizeError,
    CallForm,
    CallForms,
    Change,
    SizeSlot,
    is_there,
    marked,
)
from .snapshots import ValueSnapshots
from .state import CallState, TorchSettings

_MOST_CALLS = 1 << 20
_MOST_FORMS = 256
_MOST_DIMENSIONS = 8
_SMALL = 1, 2, 3, 7
_FACTORS = 1, 2, 3, 5, 7, 16
_LEAST_TAKEN = 3
_MOST_ELEMENTS = 1 << 22
_SEED = 0
_RANDOM = "it draws random numbers, and compiled code draws different ones"


class _BackwardError(RuntimeError):
    """An error of a backward pass."""


class UnseenSizes(CallWatcher):
    """A watcher of a program's calls that can repeat the calls with other sizes."""

    def __init__(self, added: Sequence[AddedSizes], patience: float) -> None:
        super().__init__(compiled=True, most=_MOST_CALLS)
        self.outcomes: list[SizeTried] = []
        self._added, self._patience = added, patience
        self._forms = CallForms(_MOST_FORMS)

    def begin(self, call: CompiledCall) -> None:
        """Record the form and arguments of a call."""
        self._forms.keep(call, torch.is_grad_enabled())

    def try_all(self) -> None:
        """Repeat the calls with other sizes; call this method after the program.

        The output of the repeated calls is dropped.
        """
        self.over = True
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            self._try_all(time.monotonic() + self._patience)

    def _try_all(self, deadline: float) -> None:
        forms = self._forms
        tries = [
            _SizeTrials(form, self._alike(form), forms.settings[key], deadline) for key, form in forms.items()
        ]
        for added in self._added:
            slot = SizeSlot(added.place, added.dim)
            having = [item for item in tries if item.form.has(slot)]
            if not having:
                words = _not_there(slot, [item.form for item in tries])
                self.outcomes.append(SizeTried("", slot.words, added.sizes[0], "unknown", words, asked=True))
            for item in having:
                self.outcomes += [item.asked(slot, size) for size in added.sizes]
        slots = [SizeSlot(item.place, item.dim) for item in self._added]
        for item in tries:
            self.outcomes += item.unseen(slots)

    def _alike(self, form: CallForm) -> list[CallForm]:
        """Return all recorded forms of the function that ``form`` calls."""
        return [item for item in self._forms.values() if item.call.name == form.call.name]


class _SizeTrials:
    """The repeated calls of one form."""

    def __init__(
        self, form: CallForm, alike: list[CallForm], settings: TorchSettings, deadline: float
    ) -> None:
        self.form, self._alike = form, alike
        self._settings, self._deadline = settings, deadline
        self._kept: CallState | None = None
        self._asked: dict[SizeSlot, list[int]] = {}

    def asked(self, slot: SizeSlot, size: int) -> SizeTried:
        """Try a size that the user requested: for such a size, a new compilation is allowed."""
        self._asked.setdefault(slot, []).append(size)
        if self._problem:
            return self._outcome(slot, size, "untried", self._problem, asked=True)
        return self._try(slot, size, asked=True)

    def unseen(self, slots: Sequence[SizeSlot]) -> Iterator[SizeTried]:
        """Try unused sizes of varying and dynamic dimensions, and of ``slots``."""
        varying = self._varying()
        wanted = [slot for slot in dict.fromkeys((*varying, *slots, *self._dynamic())) if self.form.has(slot)]
        done: set[str] = set()
        for slot in wanted:
            if slot.words in done:
                continue
            sizes = self._sizes(slot)
            if self._problem:
                yield self._outcome(slot, sizes[0], "untried", self._problem)
                continue
            found = [self._try(slot, size) for size in sizes]
            found += self._of_a_kind(slot, found)
            done.update(name for item in found for name in item.along)
            if slot in varying or slot in slots or any(item.outcome != "refused" for item in found):
                yield from found

    def _varying(self) -> list[SizeSlot]:
        """Return the dimensions that varied, or that the program marked as dynamic."""
        form = self.form
        varied = [slot for slot in form.last if slot.dim is not None and form.varies(slot)]
        return [*varied, *marked(form.given)]

    def _dynamic(self) -> list[SizeSlot]:
        """Return the first dimensions of a call with ``dynamic=True``, else nothing.

        The sizes of such a dimension are not reported if the function refuses all of them.
        """
        is_dynamic = self.form.call.options.get("dynamic") is True
        return [slot for slot in self.form.last if slot.dim is not None][: _MOST_DIMENSIONS * is_dynamic]

    @functools.cached_property
    def _problem(self) -> str:
        """Why calls cannot be repeated; empty if they can be repeated.

        The compiled code must accept the program's own calls again.
        """
        outcome, words = self._compare({}, "fail_on_recompile")[:2]
        if outcome == "compiles-again":
            return "after the end of the program, even its unmodified calls are compiled again"
        is_random = outcome == "unsteady" and words == _RANDOM
        return "" if outcome in ("equal", "differs") or is_random else words

    def _sizes(self, slot: SizeSlot) -> list[int]:
        known = self._known(slot)
        elements = max(value.numel() for _, value in tensors_in("", list(self.form.given.values())))
        size = max(1, self.form.last[slot])
        most = max(known)
        # Tensors that grow with the square of a size may not fit into memory.
        large = 4 * most + 1 if most <= 64 else most + max(1, most // 8) // 2 * 2 + 1
        large = min(large, max(_MOST_ELEMENTS * size // max(elements, 1), 9))
        return [item for item in (*_SMALL, large) if item not in known] or [max(known) + 1]

    def _known(self, slot: SizeSlot) -> set[int]:
        """Return the sizes of a slot that were requested, or used by the program."""
        return {*self._asked.get(slot, ()), *(size for form in self._alike for size in form.seen(slot))}

    def _of_a_kind(self, slot: SizeSlot, found: Sequence[SizeTried]) -> Iterator[SizeTried]:
        """Try multiples of the used sizes' common divisor if most sizes are refused."""
        taken = sum(item.outcome != "refused" and item.size > 1 for item in found)
        step = math.gcd(*self.form.seen(slot)) or 1
        known = self._known(slot) | {item.size for item in found}
        for size in (factor * step for factor in _FACTORS):
            if taken >= _LEAST_TAKEN:
                return
            if size not in known and size > 1:
                tried = self._try(slot, size)
                taken += tried.outcome != "refused"
                yield tried

    def _try(self, slot: SizeSlot, size: int, *, asked: bool = False) -> SizeTried:
        if time.monotonic() > self._deadline:
            return self._outcome(slot, size, "untried", "there was no time", asked=asked)
        first: tuple[SizeOutcome, str, bool] | None = None
        stance = "default" if asked else "fail_on_recompile"
        for change in self._changes(slot, size):
            for scaled in (False, True):
                found = self._compare(change, stance, scaled=scaled)
                if found[0] != "refused":
                    return self._outcome(slot, size, *found, change, asked)
                first = first or found
        assert first is not None, "there is one change at least"
        return self._outcome(slot, size, *first, asked=asked)

    def _changes(self, slot: SizeSlot, size: int) -> Iterator[Change]:
        """Yield sets of slots to change together with a size, with their new values.

        First come the slots that had the same size in all calls, then the slots that were linear functions of
        the size, then the size alone. If the size never varied, equal sizes may be equal by chance, so the
        order is reversed.
        """
        changes = [
            dict.fromkeys(self.form.together(slot), size), self.form.related(slot, size), {slot: size}
        ]  # fmt: skip
        if not self.form.varies(slot):
            changes.reverse()
        for index, change in enumerate(changes):
            if change not in changes[:index]:
                yield change

    def _outcome(
        self,
        slot: SizeSlot,
        size: int,
        outcome: SizeOutcome,
        words: str = "",
        backward: bool = False,
        change: Change | None = None,
        asked: bool = False,
    ) -> SizeTried:
        along = tuple(item.words for item in change or () if item != slot)
        return SizeTried(self.form.call.name, slot.words, size, outcome, words, along, asked, backward)

    def _compare(self, change: Change, stance: str, *, scaled: bool = False) -> tuple[SizeOutcome, str, bool]:
        """Compare a compiled and an uncompiled call with changed sizes.

        Return the outcome, a description, and whether gradients were compared.
        """
        with self._settings.again():
            self._kept = self._kept or CallState(self.form.call)
            backward = True
            try:
                try:
                    eager = self._run(change, scaled, "force_eager")
                except _BackwardError:
                    backward = False
                    eager = self._run(change, scaled, "force_eager", gradients=False)
            except ArgumentSizeError as error:
                return "untried", str(error), False
            except Exception as error:
                return "refused", _words(error), False
            try:
                again = self._run(change, scaled, "force_eager", gradients=backward)
            except Exception as error:
                return "unsteady", f"the second of two uncompiled calls raises {_words(error)}", False
            if words := _difference(eager, again):
                return "unsteady", f"two uncompiled calls differ: {words}", False
            try:
                new = self._run(change, scaled, stance, gradients=backward)
            except Exception as error:
                if (reason := dynamo_compat.why_compiled(error)) is not None:
                    return "compiles-again", reason, False
                return "raises", _words(error), False
        words = _difference(eager, new)
        if words and eager["draws"]:
            return "unsteady", _RANDOM, False
        return ("differs", words, False) if words else ("equal", "", bool(eager["gradients"]))

    def _run(self, change: Change, scaled: bool, stance: str, *, gradients: bool = True) -> dict[str, Any]:
        """Repeat a call with changed sizes; return its recorded result and effects."""
        call = self.form.call
        assert self._kept is not None
        set_seeds(_SEED)
        args, kwargs = ArgumentMaker(self.form, change, scaled=scaled).make()
        set_seeds(_SEED)
        before = random_states()
        called = call.function if stance == "force_eager" else call.compiled
        try:
            with torch.compiler.set_stance(stance, skip_guard_eval_unsafe=self._settings.skips_guards):
                result = called(*args, **kwargs)
            made = CompiledCall(1, call.function, args, kwargs, call.options, call.compiled)
            record = _recorded(made, result)
            record["draws"] = record["random"] != before
            if gradients:
                record["gradients"] = _gradients(made, result)
            return record
        finally:
            self._kept.put_back()


def _recorded(call: CompiledCall, result: Any) -> dict[str, Any]:
    snapshots = ValueSnapshots()
    random = random_states()
    places = [("result", result), *inputs_of(call), *modules_of(call)]
    values = [(place, snapshots.take(place, value)) for place, value in places]
    return {
        **new_record(call), "values": values, "random": random, "incomplete": snapshots.incomplete,
    }  # fmt: skip


def _gradients(call: CompiledCall, result: Any) -> dict[str, Any]:
    try:
        return gradients_of(call, result)
    except RuntimeError as error:
        raise _BackwardError(str(error)) from error


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Describe how a call differs from the uncompiled call; empty if they are equal."""
    before, after = (
        {"calls": [item], "raised": [], "left out": 0, "again": [], "left": []} for item in (old, new)
    )
    words = compared(before, after).difference
    return words.replace(f" of call 1 of `{old['name']}`", "").replace(", before ", ", uncompiled ")


def _not_there(slot: SizeSlot, forms: Sequence[CallForm]) -> str:
    dimensions: dict[str, int] = {}
    for form in forms:
        for item in form.last:
            if item.dim is not None:
                dimensions[item.place] = max(dimensions.get(item.place, 0), item.dim + 1)
    if slot.place in dimensions:
        number = dimensions[slot.place]
        return f"`{slot.place}` has no dimension {slot.dim}: it has {number}, counted from 0"
    if not forms:
        return "no compiled function was called"
    if any(is_there(slot.place, form.given) for form in forms):
        return f"`{slot.place}` is not a tensor whose sizes can be changed"
    known = ", ".join(f"`{place}`" for place in dimensions)
    return f"no compiled function has a tensor `{slot.place}`: " + (
        f"there are {known}" if known else "none has any"
    )


def _words(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
