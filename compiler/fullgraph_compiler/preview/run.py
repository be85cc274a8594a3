"""A run for a GPU that is not there, beside what every run does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import inductor_compat, preview_compat
from ..facts import DEVICES, CodeGenerated, Fact, RanDry
from .building import build


def prepare(device: str) -> tuple[str, ...]:
    """Make this process believe in a device of :data:`..facts.DEVICES`; returns what it cannot preview.

    The process is spent afterwards.
    """
    inductor_compat.import_inductor()
    failed = preview_compat.stand_in(DEVICES[device])
    return tuple(
        f"This torch previews no {patch.needed_for}: {patch.replaces} is another here." for patch in failed
    )


def kernels(device: str, failed: Sequence[str], codes: Sequence[CodeGenerated]) -> Iterator[Fact]:
    """The kernels of the code that was written, compiled; and what only the device could tell of them."""
    tried = False
    for kernel in build(codes):
        tried = tried or bool(kernel.others)
        yield kernel
    if not codes:
        return
    unknown = dict.fromkeys(preview_compat.unmeasured)
    if tried:
        unknown["which settings of a kernel are the fastest: of several, the first are shown"] = None
    yield RanDry(device, (*failed, *(f"Only the device can tell {what}." for what in unknown)))
