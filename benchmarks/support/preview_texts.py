"""The common part of two compilations of a program: kernel texts, library calls.

Two kernels are the same if their sources are the same syntax. These parts are left out: comments, which say
where an operation comes from; the kernel's name, which is built from its operations; and ``backend_hash``,
which says how torch and Triton were built. Everything else counts: the heuristics with its size hints, the
signature and the alignment of the arguments, the properties of the device, the body. The choices of
autotuning are not part of the source.
"""

from __future__ import annotations

import ast
import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NOT_COMPARED = {"kernel_name", "backend_hash"}
"""Entries of ``inductor_meta``."""
_DIFF_LINES = 14

Kernel = Mapping[str, str]
"""``name``, ``language``, ``source``, and where it was built ``config`` and ``ptx`` (a digest)."""


@dataclass(frozen=True)
class Common:
    """The numbers of kernels and library calls on a GPU, and of those in the preview.

    ``built`` is the number of kernels with the same text for which autotuning chose the previewed
    configuration.
    """

    kernels: int
    same: int
    built: int
    same_ptx: int
    calls: int
    same_calls: int
    differences: tuple[str, ...]


def in_common(previewed: Sequence[Mapping[str, Any]], real: Sequence[Mapping[str, Any]]) -> Common:
    """Compare graph by graph: forward with forward, backward with backward."""
    ours, theirs = _by_graph(previewed), _by_graph(real)
    kernels, calls, pairs, same_calls, differences = 0, 0, [], 0, []
    for name in dict.fromkeys((*theirs, *ours)):
        mine, others = _written(ours.get(name, ())), _written(theirs.get(name, ()))
        kernels += len(others)
        my_texts, their_texts = [normal(kernel) for kernel in mine], [normal(kernel) for kernel in others]
        same = [*_matches(my_texts, their_texts)]
        pairs += [(mine[i], others[j]) for i, j in same]
        differences += _differences(name, my_texts, their_texts)
        my_calls, their_calls = _calls(ours.get(name, ())), _calls(theirs.get(name, ()))
        calls += len(their_calls)
        same_calls += len([*_matches(my_calls, their_calls)])
        differences += _differences(f"{name}, library calls", my_calls, their_calls)
    built = [(mine, other) for mine, other in pairs if other["ptx"] and mine["config"] == other["config"]]
    same_ptx = sum(mine["ptx"] == other["ptx"] for mine, other in built)
    return Common(kernels, len(pairs), len(built), same_ptx, calls, same_calls, tuple(differences))


def _by_graph(graphs: Sequence[Mapping[str, Any]]) -> dict[str, list[Kernel]]:
    found: dict[str, list[Kernel]] = {}
    for graph in graphs:
        found.setdefault(graph["graph"], []).extend(graph["kernels"])
    return found


def normal(kernel: Kernel) -> str:
    """A kernel's source without what is not compared."""
    tree = ast.parse(kernel["source"].replace(kernel["name"], "kernel"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            kept = [pair for pair in zip(node.keys, node.values, strict=True) if not _is_left_out(pair[0])]
            node.keys, node.values = [key for key, _ in kept], [value for _, value in kept]
    return ast.unparse(tree)


def _is_left_out(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value in _NOT_COMPARED


def _written(kernels: Sequence[Kernel]) -> list[Kernel]:
    """Each kernel that was written once, in the order of the launches."""
    return [*{kernel["name"]: kernel for kernel in kernels if kernel["language"] == "triton"}.values()]


def _calls(kernels: Sequence[Kernel]) -> list[str]:
    return [kernel["name"] for kernel in kernels if kernel["language"] == "extern"]


def _matches(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of what is the same, in whatever order."""
    left: defaultdict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(theirs):
        left[text].append(place)
    for place, text in enumerate(ours):
        if left[text]:
            yield place, left[text].pop(0)


def _differences(name: str, ours: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
    """A short diff of what is not the same: ``-`` is the GPU's, ``+`` the preview's."""
    same = [*_matches(ours, theirs)]
    mine = [text for place, text in enumerate(ours) if place not in {i for i, _ in same}]
    others = [text for place, text in enumerate(theirs) if place not in {j for _, j in same}]
    if not mine and not others:
        if list(ours) != list(theirs):
            yield f"{name}: the same, in another order"
        return
    before, after = ("\n".join(texts).splitlines() for texts in (others, mine))
    lines = [*difflib.unified_diff(before, after, lineterm="", n=0)][2:]
    lines = [line for line in lines if not line.startswith("@@")]
    more = [f"({len(lines) - _DIFF_LINES} more lines)"] if len(lines) > _DIFF_LINES else []
    yield "\n".join([f"{name}:", *(line[:200] for line in lines[:_DIFF_LINES]), *more])
