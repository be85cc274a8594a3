"""Find the first point at which two uncompiled calls of one function diverge.

If a graph compiled in one call is wrong for the other, this point is the cause: no guard checks it.
"""

from __future__ import annotations

import dis
from collections.abc import Collection, Iterator
from functools import cache
from types import CodeType
from typing import Final, TypeAlias

from ..facts import Cause, CauseKind, Evidence, Stack
from .followed import caches
from .hooks import HookRegistry
from .paths import ENTERED, CallPath

_TESTING: Final = ("COPY", "TO_BOOL", "NOP", "CACHE", "EXTENDED_ARG", "PRECALL", "SWAP")
"""Instructions that may stand between the computation of a value and the jump that tests it."""
_OFFSET: Final = (1 << 32) - 1


def parting(
    before: CallPath, now: CallPath, hooks: HookRegistry, breaks: Collection[tuple[str, int]] = ()
) -> Cause | None:
    """Return why a graph compiled in call ``before`` does not fit call ``now``.

    ``None`` if the graph may fit. ``breaks`` are the files and rows of graph breaks: code in these rows runs
    uncompiled in every call.
    """
    at = next(_different(before, now), None)
    if at is not None:
        found = _way(before, now, hooks, at)
    else:
        found = _value(before, now, bool(breaks)) or _aliasing(before, now) or _setting(before, now)
    if found is None:
        return None
    kind, evidence = found
    rows = {(frame.filename, frame.row) for frame in evidence[0].stack[len(now.caller) :]}
    if rows & {*breaks}:
        return None
    return Cause(kind, now.name, now.turn, before.turn, evidence, now.caller)


_Found: TypeAlias = tuple[CauseKind, tuple[Evidence, ...]]


def _way(before: CallPath, now: CallPath, hooks: HookRegistry, at: int) -> _Found | None:
    """Return why the paths of two calls diverge at event ``at``; ``None`` if unknown."""
    for path in (now, before):
        code = _entered(path, at)
        if code is None:
            continue
        changes = hooks.registered(code) if path is now else hooks.removed(code)
        late = [item.stack for item in changes if before.number <= item.calls < now.number]
        if late and path is now:
            return "hook", (Evidence(code.co_name, "did not run", "runs", late[0]),)
        if late:
            own = path.stack(path.events[at] >> 32, 0, code.co_firstlineno)
            return "hook", (Evidence(code.co_name, "ran", "does not run", own),)
    if at == 0:
        return None
    frame, offset = now.events[at - 1] >> 32, now.events[at - 1] & _OFFSET
    if offset == ENTERED:
        return None
    stack = now.stack(frame, offset)
    called = [_entered(path, at) for path in (before, now)]
    if any(called):
        if {code for code, _ in caches()} & {*called}:
            return None  # the cache, not the program, decides whether the function runs
        first, second = (getattr(code, "co_qualname", code.co_name) if code else "" for code in called)
        return "called", (Evidence("", first, second, stack),)
    jump = _instructions(now.frames[frame].code).get(offset)
    left, right = (_following(path, at, frame) for path in (before, now))
    if jump is None or left is None or right is None:
        return None
    if jump.opname == "FOR_ITER":
        # The body follows FOR_ITER. Since Python 3.12 the end of a loop jumps past the target, END_FOR.
        old, new = ("went on" if offset < to < jump.argval else "ended" for to in (left, right))
        row = now.stack(frame, 0, stack[-1].row)  # the columns would be those of the whole loop
        return "loop", (Evidence("", old, new, row),)
    was, became = _truth(jump, left), _truth(jump, right)
    if not was or not became:
        return None
    stack = now.stack(frame, _computed(now, at - 1, frame, offset))
    return "branch", (Evidence("", was, became, stack),)


def _different(before: CallPath, now: CallPath) -> Iterator[int]:
    """Yield the indices at which the events of two calls differ."""
    events, others = before.events, now.events
    for at in range(max(len(events), len(others))):
        if at >= len(events) or at >= len(others) or events[at] != others[at]:
            yield at
        elif events[at] & _OFFSET == ENTERED:
            number = events[at] >> 32
            if before.frames[number].code is not now.frames[number].code:
                yield at


def _entered(path: CallPath, at: int) -> CodeType | None:
    """Return the code of the frame that an event starts; ``None`` for an instruction."""
    if at >= len(path.events) or path.events[at] & _OFFSET != ENTERED:
        return None
    return path.frames[path.events[at] >> 32].code


def _following(path: CallPath, at: int, frame: int) -> int | None:
    """Return the bytecode offset of an event; ``None`` if it is in another frame."""
    if at >= len(path.events) or path.events[at] >> 32 != frame:
        return None
    return path.events[at] & _OFFSET


def _truth(jump: dis.Instruction, to: int) -> str:
    """Return the truth value with which a jump went to the offset ``to``.

    Empty if the instruction is not a jump that tests a value.
    """
    jumped, name = to == jump.argval, jump.opname
    if "JUMP" not in name:
        return ""
    if name.endswith("NOT_NONE"):
        return "not None" if jumped else "None"
    if name.endswith("IF_NONE"):
        return "None" if jumped else "not None"
    if "IF_TRUE" in name:
        return str(jumped)
    return str(not jumped) if "IF_FALSE" in name else ""


def _computed(path: CallPath, at: int, frame: int, jump: int) -> int:
    """Return the offset of the instruction that computed the value that a jump tests."""
    instructions = _instructions(path.frames[frame].code)
    for event in path.events[at - 1 :: -1] if at else ():
        offset = event & _OFFSET
        if event >> 32 == frame and offset != ENTERED:
            instruction = instructions.get(offset)
            if instruction is not None and instruction.opname not in _TESTING:
                return offset
    return jump


@cache
def _instructions(code: CodeType) -> dict[int, dis.Instruction]:
    return {item.offset: item for item in dis.get_instructions(code)}


def _value(before: CallPath, now: CallPath, breaks: bool) -> _Found | None:
    """Return the first value that differs although sizes and plain inputs are equal.

    If there are graph breaks, variables are ignored: their values may come from the data of the call's
    tensors.
    """
    if before.shape != now.shape:
        return None
    for old, new in zip(before.values, now.values, strict=False):
        if (old.frame, old.row, old.offset, old.name) != (new.frame, new.row, new.offset, new.name):
            return None
        if old.value != new.value and not (breaks and new.name):
            stack = now.stack(new.frame, new.offset, new.row)
            return "value", (Evidence(new.name, old.value, new.value, stack),)
    return None


def _aliasing(before: CallPath, now: CallPath) -> _Found | None:
    """Return two inputs that share memory in one call only, and a write to either."""
    for path, other in ((now, before), (before, now)):
        for pair in sorted(path.shared - other.shared):
            write = next((item for item in before.writes + now.writes if item[0] in pair), None)
            if write is None:
                continue
            name, frame, row = write
            names = f"`{pair[0]}` and `{pair[1]}`"
            stack: Stack = now.stack(frame, 0, row)
            old, new = ("apart", "shared") if path is now else ("shared", "apart")
            return "aliasing", (Evidence(names, old, new, stack), Evidence(name, "", ""))
    return None


def _setting(before: CallPath, now: CallPath) -> _Found | None:
    for name, value in now.settings.items():
        if before.settings[name] != value:
            return "setting", (Evidence(name, before.settings[name], value),)
    return None
