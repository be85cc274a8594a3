"""The comparison of two recorded runs of a program."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import torch

from ..facts import CompareRequest, LeftBehind, ResultsCompared, RunFinished
from ..observe.live import Sink
from .differences import (
    EXACT,
    LADDER,
    DifferenceRules,
    NumberDifference,
    SnapshotComparison,
    SnapshotDifference,
    number_difference,
)
from .surroundings import OF_NO_VARIABLE

_MOST_NUMBERS = 1000
"""The most Python numbers that are listed as different; any further one is a difference of results."""
_MOST_ROUNDING: Final = 4.0
"""The largest difference of numbers that is due to rounding: a multiple of the largest difference that
another rounding makes in the same tensor of the unmodified program."""
_LARGEST_ROUNDING: Final = 0.01
"""The same, as a share of the largest number of the tensor."""
_LEAST_ROUNDING: Final = 1e-4
"""The share of the largest number by which another rounding may change a tensor, if it changes it at all."""
_OF_TORCH: Final = ("RuntimeError", "IndexError")
"""The errors with which torch refuses values, unless the program raises them itself."""
_NONE: Final[Mapping[str, float]] = MappingProxyType({})


def compare(request: CompareRequest, sink: Sink) -> None:
    """Compare a request's recordings; report ``ResultsCompared``, ``RunFinished``."""
    begun = time.monotonic()
    rounded = _loaded(request.rounded) if request.rounded else None
    before, after = _loaded(request.before), _loaded(request.after)
    result = compared(before, after, rounded, errors_differ=request.errors_differ)
    sink([result, RunFinished("finished", time.monotonic() - begun, 0)])


def _loaded(path: str) -> dict[str, Any]:
    recording: dict[str, Any] = torch.load(Path(path), map_location="cpu", weights_only=True)
    return recording


def compared(
    before: dict[str, Any],
    after: dict[str, Any],
    rounded: dict[str, Any] | None = None,
    *,
    errors_differ: bool = False,
) -> ResultsCompared:
    """Compare the recordings of two runs.

    With ``errors_differ``, an error may become a ``RuntimeError`` without counting as a difference. Numbers
    may differ about as much as they differ between ``before`` and ``rounded``.
    """
    noise = _rounding(before, rounded) if rounded is not None else _NONE
    comparison = _ValueComparison(errors_differ, noise)
    difference = next(map(str, comparison.differences(before, after)), "")
    again = next(map(str, comparison.again(before, after)), "")
    return ResultsCompared(
        comparison.calls,
        difference,
        tuple(comparison.seen),
        tuple(dict.fromkeys(comparison.unseen)),
        tuple(sorted({mode for call in before["calls"] for mode in call["modes"]})),
        again,
        comparison.repeated,
        tuple(_left_differently(before["left"], after["left"], noise)),
        comparison.mild,
        tuple(LeftBehind(item.where, item.words) for item in comparison.numbers),
    )


def _rounding(before: dict[str, Any], rounded: dict[str, Any]) -> Mapping[str, float]:
    """Return by how much the numbers at each place differ between two recordings."""
    comparison = _ValueComparison(False, tolerances=EXACT)
    gaps = dict[str, float]()
    found = [*comparison.differences(before, rounded), *comparison.again(before, rounded)]
    for item in (*found, *comparison.numbers):
        gaps[item.where] = max(item.gap, gaps.get(item.where, 0.0))
    others = dict(rounded["left"])
    for place, node in before["left"]:
        between = SnapshotComparison(DifferenceRules(EXACT))
        for part in between.between(place, node, others[place]) if place in others else ():
            gaps[part.place] = part.gap
    return gaps


class _Difference(NamedTuple):
    """A difference between two recordings: its place and description, and how much numbers differ.

    Without a place, the description is a whole clause.
    """

    where: str
    words: str
    gap: float = 0.0

    def __str__(self) -> str:
        return f"{self.where}: {self.words}" if self.where else self.words


class _ValueComparison:
    """A comparison of two recordings.

    ``seen`` lists what was compared, ``unseen`` what could not be compared. ``mild`` is the first mild
    difference, ``numbers`` the Python numbers that differ.
    """

    def __init__(
        self,
        errors_differ: bool,
        noise: Mapping[str, float] = _NONE,
        tolerances: tuple[float, float, float] = LADDER,
    ) -> None:
        self._errors_differ = errors_differ
        self._noise = noise
        self._tolerances = tolerances
        self.calls = 0
        self.repeated = 0
        self.seen: dict[str, None] = {}
        self.unseen: list[str] = []
        self.mild = ""
        self.numbers: list[_Difference] = []

    def differences(self, before: dict[str, Any], after: dict[str, Any]) -> Iterator[_Difference]:
        uncompiled = False
        for number, (old, new) in enumerate(zip(before["calls"], after["calls"], strict=False), 1):
            uncompiled = bool(old["error"] and old["error"][2])
            if uncompiled:
                self.unseen.append(f"call {number} of `{old['name']}`, which did not compile before")
                continue
            self.calls += 1
            yield from self._call(f"call {number} of `{old['name']}`", old, new)
        if before["left out"]:
            self.unseen.append(f"calls after the first {len(before['calls'])}")
        if uncompiled and not before["raised"]:
            return  # the compiler's error may have ended the program
        if len(before["calls"]) != len(after["calls"]):
            words = f"{len(after['calls'])} calls of compiled functions, before {len(before['calls'])}"
            yield _Difference("", words)
        old_ends, new_ends = before["raised"], after["raised"]
        if old_ends or new_ends:
            self.seen["exceptions"] = None
        if old_ends != new_ends:
            yield _Difference("", f"the program {_ending(new_ends)}, before it {_ending(old_ends)}")

    def again(self, before: dict[str, Any], after: dict[str, Any]) -> Iterator[_Difference]:
        """Yield the differences between repeated calls.

        Stop at the first call whose arguments have another form than before.
        """
        for old, new in zip(before["again"], after["again"], strict=False):
            if old["form"] != new["form"] or old["again"] != new["again"]:
                self.unseen.append(f"calls of `{old['name']}` again: it is called with other values")
                return
            if old["error"] and old["error"][2]:
                self.unseen.append(f"a call of `{old['name']}` {old['again']}, which did not compile before")
                continue
            self.repeated += 1
            if old["error"] and not new["error"] and not old["error"][3] and old["error"][0] in _OF_TORCH:
                # torch itself refused the values, which the program did not pass.
                words = f"a call of `{old['name']}` {old['again']}: no exception, before {old['error'][0]}"
                self.mild = self.mild or words
                continue
            found = self._call(f"a call of `{old['name']}` {old['again']}", old, new)
            if old["error"] and new["error"] and (old["error"][:2] == new["error"][:2] or new["error"][2]):
                # The program itself raised no error: what the call changes before its error is mild, and that
                # torch finds the error while it compiles the call.
                numbers = [*self.numbers]
                first = next(found, None)
                self.numbers = numbers
                place = "" if new["error"][2] else f"after `{old['error'][0]}`, "
                self.mild = f"{place}{first}" if first else self.mild
            else:
                yield from found

    def _call(self, title: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[_Difference]:
        if self._errors_differ and old["error"] and new["error"] and new["error"][0] == "RuntimeError":
            return
        if old["error"] or new["error"]:
            self.seen["exceptions"] = None
            before, after = (
                ": ".join(filter(None, item["error"][:2])) if item["error"] else "no exception"
                for item in (old, new)
            )
            if before != after:
                yield _Difference(title, f"{after}, before {before}")
        rules = DifferenceRules(
            self._tolerances, lost_memory=lambda place, first: self._lost(title, place, first)
        )
        between = SnapshotComparison(rules)
        others = dict(new["values"])
        for place, node in old["values"]:
            other = others.get(place)
            if place in old["unchanged"] and (other is None or place in new["unchanged"]):
                between.know(place, node, other)
                continue
            self.seen[_group(place)] = None
            if other is None:
                yield _Difference(f"{place} of {title}", "missing")
                continue
            for found in between.between(place, node, other):
                where = f"{found.place} of {title}"
                if _is_rounding(found, self._noise, where):
                    continue
                if found.mild:
                    self.mild = self.mild or f"{where}: {found.words}"
                elif found.of_number and len(self.numbers) < _MOST_NUMBERS:
                    self.numbers.append(_Difference(where, found.words, found.gap))
                else:
                    yield _Difference(where, found.words, found.gap)
        yield from self._gradients(f"gradient of {{}} of {title}", old["gradients"], new["gradients"])
        for place in {**old["grads"], **new["grads"]}:
            # An optimizer skips a parameter without a gradient, but may change one with a zero gradient.
            if (place in old["grads"]) is not (place in new["grads"]):
                now, was = ("a gradient" if place in item["grads"] else "none" for item in (new, old))
                yield _Difference(f"`.grad` of {place} of {title}", f"{now}, before {was}")
        yield from self._gradients(f"`.grad` of {{}} of {title}", old["grads"], new["grads"])
        self.seen["random numbers"] = None
        for source, digest in old["random"].items():
            if new["random"].get(source, digest) != digest:
                yield _Difference("", f"random numbers of {source} drawn until the end of {title}")
        if old["incomplete"] or new["incomplete"]:
            self.unseen.append(f"values of {title} that are large, nested or have no elements in memory")

    def _gradients(self, title: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[_Difference]:
        scale = max([1.0, *(_size(node) for nodes in old.values() for node in _as_list(nodes))])
        for place in {**old, **new}:
            self.seen["gradients"] = None
            before, after = (_as_list(nodes[place]) if place in nodes else [] for nodes in (old, new))
            for number in range(max(len(before), len(after))):
                first, second = (nodes[number] if number < len(nodes) else None for nodes in (before, after))
                found = _of_gradients(first, second, self._tolerances, scale)
                where = title.format(place)
                if found is not None and not _is_rounding(found, self._noise, where):
                    yield _Difference(where, found.words, found.gap)

    def _lost(self, title: str, place: str, first: str) -> tuple[str, bool]:
        self.unseen.append(
            f"whether the caller changes the {place} of {title} in place: it was in the memory of {first}"
        )
        return "", True


def _is_rounding(
    found: SnapshotDifference | NumberDifference, noise: Mapping[str, float], where: str
) -> bool:
    """Tell whether numbers differ about as much as with another rounding."""
    own = noise.get(where, 0.0)
    least = _LEAST_ROUNDING * found.size if own else 0.0
    largest = min(max(_MOST_ROUNDING * own, least), _LARGEST_ROUNDING * found.size)
    return 0.0 < found.gap <= largest


def _left_differently(before: Any, after: Any, noise: Mapping[str, float]) -> Iterator[LeftBehind]:
    """Yield the differences in the variables, settings and files left behind.

    New variables of modules do not count: an edit may add them.
    """
    found = dict(after)
    for place, node in before:
        if place not in found:
            yield LeftBehind(place, "missing")
            continue
        between = SnapshotComparison(DifferenceRules(LADDER)).between(place, node, found[place])
        differences = (item for item in between if not _is_rounding(item, noise, item.place))
        for difference in itertools.islice(differences, 1):
            part = difference.place.removeprefix(place)
            yield LeftBehind(place, f"{part and f'{part}: '}{difference.words}", difference.of_form)
    known = {place for place, _ in before}
    for place, _ in after:
        if place not in known and place.startswith(OF_NO_VARIABLE):
            yield LeftBehind(place, "not there before")


def _size(node: Any) -> float:
    """Return the largest absolute value among the finite elements of a gradient.

    If terms cancelled out, their rounding errors are relative to this value.
    """
    if node is None or node[0] != "tensor" or node[2] is None or not node[2].numel():
        return 0.0
    numbers = node[2].abs().double()
    return float(numbers.where(numbers.isfinite(), 0).max())


def _of_gradients(
    old: Any, new: Any, tolerances: tuple[float, float, float], scale: float
) -> NumberDifference | None:
    """Return how gradients differ; a missing gradient equals zeros.

    Some graphs call gradient hooks with ``None``.
    """
    old, new = (None if node is None or node[0] != "tensor" else node for node in (old, new))
    present = [node for node in (old, new) if node is not None]
    if not present or any(node[2] is None for node in present):
        return None
    if len(present) == 2 and old[1]["shape"] != new[1]["shape"]:
        return NumberDifference(f"shape {new[1]['shape']}, before {old[1]['shape']}")
    zeros = torch.zeros_like(present[0][2])
    before, after = (zeros if node is None else node[2] for node in (old, new))
    return number_difference(before, after, tolerances, scale)


def _as_list(nodes: Any) -> list[Any]:
    return nodes if isinstance(nodes, list) else [nodes]


def _ending(raised: list[list[str]]) -> str:
    return f"raises {raised[0][0]}: {raised[0][1]}" if raised else "raises nothing"


def _group(place: str) -> str:
    return "results" if place == "result" else "inputs" if place.startswith("input") else "buffers"
