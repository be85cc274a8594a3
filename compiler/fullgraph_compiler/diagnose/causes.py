"""Find why compiled results differ, by running the whole program again.

One run compiles the calls anew: if their results are then right, torch had reused a graph that does not fit.
Another run is uncompiled and records the path of each call. The path of the call with the wrong result is
compared with that of the call that was compiled. The cause is the first point at which the two paths differ:
no guard checks this point, so torch reused the graph wrongly.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..cases import checking
from ..facts import Cause, Evidence, RunRequest, Stack
from ..processes.children import ForkedChild, ends_of, run_child
from . import paths, printed, programs, results
from .divergence import parting
from .followed import caches
from .hooks import HookRegistry
from .programs import CompileLandmarks

_NUMPY_RANDOM = {"torch._dynamo.config.use_numpy_random_stream": True}
_ANEW = ("uncompiled", programs.ANEW)
_CHANGED = ("eager", programs.CHANGED)
"""``_ANEW`` and ``_CHANGED``: pairs of stages with equal results if a supposed cause is right."""


@dataclass(frozen=True, slots=True)
class _FollowedCauses:
    """The possible causes in the recorded paths of calls.

    ``asked`` and ``cached`` need another run to confirm them.
    """

    parted: Cause | None = None
    known: Cause | None = None
    asked: Cause | None = None
    cached: Cause | None = None
    draws: bool = False
    """Whether the calls may draw random numbers."""


def find_cause(request: RunRequest, folder: Path, number: int, *, whole: bool) -> Cause | None:
    """Return why the result of call ``number`` differs; for 0, why the output differs.

    ``whole`` says that the result differs only with the program's own backend. ``folder`` contains the
    results of the earlier runs. ``None`` if no cause is found.
    """
    marks = programs.marks(folder)
    follow = programs.start_followed(request, lambda recorder: _follow(recorder, number, marks))
    anew = programs.start_anew(request, folder, number, whole=whole)
    ended = dict(ends_of({follow, anew}))
    followed = ended[follow].answer if ended[follow].answered else _FollowedCauses()
    if ended[anew].answered and _is_right(folder, _ANEW, number):
        return followed.parted or Cause("reused", "", 0, 0)
    if whole:
        return None
    if followed.draws:
        child = programs.start_anew(request, folder, number, whole=False, settings=_NUMPY_RANDOM)
        if _gives(child, folder, _ANEW, number):
            return Cause("numpy-random", "", 0, 0)
    if followed.known is not None:
        return followed.known
    if followed.asked is not None:
        child = programs.start_pretending(request, folder)
        if _gives(child, folder, _CHANGED, number):
            return followed.asked
    if followed.cached is not None:
        child = programs.start_forgetting(request, folder, marks.compiled)
        return followed.cached if _gives(child, folder, _CHANGED, number) else None
    return None


def _gives(child: ForkedChild, folder: Path, stages: tuple[str, str], number: int) -> bool:
    """Wait for a child, and return whether it confirms a cause.

    It does if the program finished and the two stages have equal results.
    """
    _, ended = next(ends_of({child}))
    return ended.answered and _is_right(folder, stages, number)


def half_difference(folder: Path, stage: str) -> str | None:
    """Describe how half-precision results of a stage differ from the uncompiled ones.

    Empty if they are equal. ``None`` if the process that compares them died.
    """

    def compare() -> str:
        plain, other = (results.load(programs.results(folder, name)) for name in ("uncompiled", stage))
        for place, tensor in plain.items():
            found = other.get(place)
            if found is None or tensor.dtype not in (torch.bfloat16, torch.float16):
                continue
            if found.shape == tensor.shape and not torch.equal(found.nan_to_num(), tensor.nan_to_num()):
                gap = (found.double() - tensor.double()).abs().nan_to_num().max().item()
                return f"{place[1]} ({str(tensor.dtype).removeprefix('torch.')}) by up to {gap:.2g}"
        return ""

    ended = run_child(compare)
    return ended.answer if ended.answered else None


def _is_right(folder: Path, stages: tuple[str, str], number: int) -> bool:
    """Return whether a call has equal results at two stages.

    If ``number`` is 0, compare the program's output at the two stages instead.
    """
    if not number:
        plain, other = (printed.load(programs.printed(folder, name)) for name in stages)
        return not printed.difference(plain, other, other)

    def compare() -> bool:
        plain, other = (results.load(programs.results(folder, name)) for name in stages)
        own = [place for place in plain if place[0] == number]
        return bool(own) and all(
            place in other and not checking.difference("", other[place], plain[place], None) for place in own
        )

    ended = run_child(compare)
    return ended.answered and bool(ended.answer)


def _follow(recorder: paths.PathRecorder, number: int, marks: CompileLandmarks) -> _FollowedCauses:
    """Return the possible causes in the recorded path of call ``number``.

    If ``number`` is 0, search all calls, and return the first cause of each kind.
    """
    chosen = [path for path in recorder.paths if number in (0, path.number)]
    parted = (_parted(path, recorder.paths, recorder.hooks, marks) for path in chosen)
    return _FollowedCauses(
        next(filter(None, parted), None),
        next(filter(None, (_translated(path, marks) for path in chosen)), None),
        next(filter(None, map(_asked, chosen)), None),
        next(filter(None, (_cached(path, recorder.paths) for path in chosen)), None),
        any("random" in entered.code.co_names for path in chosen for entered in path.frames),
    )


def _parted(
    now: paths.CallPath, before: list[paths.CallPath], hooks: HookRegistry, marks: CompileLandmarks
) -> Cause | None:
    """Return the cause on which all earlier compilations of the function agree.

    ``None`` if the graph of an earlier compilation may fit the call, because torch may have reused that
    graph.
    """
    if now.number in marks.compiled:
        return None
    candidates = [
        path
        for path in before
        if path.number in marks.compiled and path.number < now.number
        if (path.name, path.kind) == (now.name, now.kind)
    ]
    found: list[Cause] = []
    for path in candidates:
        cause = parting(path, now, hooks, marks.breaks)
        if cause is None or _is_eager(cause.evidence[0].stack, marks):
            return None
        found.append(cause)
    distinct = {(cause.kind, tuple(item.stack for item in cause.evidence)) for cause in found}
    return found[-1] if len(distinct) == 1 else None


def _is_eager(stack: Stack, marks: CompileLandmarks) -> bool:
    """Return whether the innermost function of a stack is not compiled."""
    return bool(stack) and (stack[-1].filename, stack[-1].function) in marks.eager


def _translated(path: paths.CallPath, marks: CompileLandmarks) -> Cause | None:
    """Return the NumPy calls whose translation differs, once per function and line.

    Calls in uncompiled parts of the program are left out, because these parts use NumPy itself.
    """
    evidence: dict[tuple[Any, ...], Evidence] = {}
    for frame, offset, found in path.translated:
        stack = path.stack(frame, offset)
        crossed = {(call.filename, call.row) for call in stack[len(path.caller) :]}
        if crossed & marks.breaks or _is_eager(stack, marks):
            continue
        item = Evidence(found.name, found.numpy, found.torch, stack)
        evidence.setdefault((found.name, stack[-1].filename, stack[-1].row), item)
    if not evidence:
        return None
    return Cause("numpy", path.name, path.turn, 0, tuple(evidence.values()), path.caller)


def _cached(path: paths.CallPath, before: list[paths.CallPath]) -> Cause | None:
    """Return a cached function whose result this call took from an earlier call."""
    cached = {code for code, _ in caches()} - {entered.code for entered in path.frames}
    for earlier in before:
        if earlier.number >= path.number or earlier.name != path.name:
            continue
        for entered in earlier.frames:
            if entered.code in cached and _runs(path, earlier, entered):
                stack = earlier.stack(entered.parent, entered.offset)
                evidence = Evidence(entered.code.co_name, "", "", stack)
                return Cause("cached", path.name, path.turn, 0, (evidence,), path.caller)
    return None


def _runs(path: paths.CallPath, earlier: paths.CallPath, entered: paths.PathFrame) -> bool:
    """Return whether a path has the instruction that called an earlier path's frame."""
    if entered.parent < 0:
        return False
    caller = earlier.frames[entered.parent].code
    own = (number for number, frame in enumerate(path.frames) if frame.code is caller)
    return any((number << 32 | entered.offset) in path.events for number in own)


def _asked(path: paths.CallPath) -> Cause | None:
    """Return the first line of a call that asks torch whether torch is compiling."""
    if not path.asked:
        return None
    evidence = Evidence("", "False", "True", path.stack(*path.asked[0]))
    return Cause("compiling", path.name, path.turn, 0, (evidence,), path.caller)
