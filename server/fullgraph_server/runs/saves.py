"""Saves: which targets are rerun when a file is saved or edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from fullgraph_compiler.facts import Status

from ..report.model import Report
from .choice import TargetChoice
from .slot import TargetSlot

_LONG_SECONDS: Final = 20.0
"""Seconds: if the last run took longer, a save reruns the target only with the user's consent."""

_NOT_AGAIN: Final[tuple[Status, ...]] = ("cancelled", "memory")
"""Statuses after which only the user reruns the target: the run was stopped, or used too much memory."""


def repeated(
    slots: Mapping[str, TargetSlot], filename: str, choice: TargetChoice, is_open: Callable[[str], bool]
) -> Iterator[tuple[str, TargetSlot]]:
    """Yield the targets to rerun once a file that they imported is saved.

    These are the chosen target, or else the target that the user ran last; targets whose results show in an
    open file; and targets for which the user has agreed to reruns.
    """
    depending = {
        name: slot for name, slot in slots.items() if filename in slot.kept.files and slot.state.run_on_save
    }
    last = max(depending, key=lambda name: depending[name].asked, default="")
    looked_at = choice.target if choice.target in depending else last
    reports = [slot.kept.marked for slot in slots.values() if slot.kept.marked is not None]
    for name, slot in depending.items():
        may_run = slot.is_busy or slot.agreed or slot.last_status not in _NOT_AGAIN
        is_meant = slot.agreed or name == looked_at
        if may_run and (is_meant or _shows(slot.kept.marked, reports, choice, is_open)):
            yield name, slot


def is_long(slot: TargetSlot) -> bool:
    """Tell whether a save must ask the user before it reruns a target that took long."""
    report = slot.kept.report
    took = report.seconds if report is not None and not report.layer else 0.0
    return not slot.is_busy and not slot.agreed and took > _LONG_SECONDS


def _shows(
    report: Report | None, reports: list[Report], choice: TargetChoice, is_open: Callable[[str], bool]
) -> bool:
    """Tell whether a report shows in an open file."""
    shown = [name for name, text in report.files.items() if text is not None] if report else []
    return any(is_open(name) and report in choice.among(name, reports) for name in shown)
