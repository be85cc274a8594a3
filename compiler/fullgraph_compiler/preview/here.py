"""Kernels for a GPU, written by this very torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..compat import inductor_compat, preview_compat, preview_inductor_compat
from ..compat.patches import Pretence
from ..facts import DEVICES, CodeGenerated, Fact, RanDry
from .attention import attend
from .building import build
from .moving import for_gpu


class Here:
    """Makes this process believe in a device, and compiles what TorchInductor writes for it."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._limits: tuple[str, ...] = ()
        self._codes: list[CodeGenerated] = []

    def prepare(self) -> None:
        """Change torch, for good."""
        inductor_compat.import_inductor()
        device = DEVICES[self._device]
        pretence = Pretence(device, for_gpu, attend)
        self._limits = tuple(
            f"This torch previews no {patch.needed_for}: {patch.replaces} is another here."
            for patch in preview_compat.stand_in(pretence)
        )
        if device.architecture:
            self._limits += ("What a torch that is built for ROCm would do otherwise is not known.",)

    def first(self) -> RanDry:
        """What is known ahead of the program."""
        return RanDry(self._device, self._limits)

    def take(self, facts: Sequence[Fact]) -> None:
        """Note the code among what the run tells."""
        self._codes += (fact for fact in facts if isinstance(fact, CodeGenerated))

    def rest(self) -> Iterator[Fact]:
        """The kernels, compiled; and what only the device could tell of them."""
        if not self._codes:
            return
        tried = False
        for kernel in build(self._codes):
            tried = tried or bool(kernel.others)
            yield kernel
        unknown = dict.fromkeys(preview_inductor_compat.unmeasured)
        if tried:
            unknown["which settings of a kernel are the fastest: of several, the first are shown"] = None
        only = (f"Only the device can tell {what}." for what in unknown)
        yield RanDry(self._device, (*self._limits, *only))
