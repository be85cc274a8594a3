"""Previews for which the torch of this process writes the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..compat import inductor_compat
from ..compat.patches import AbsentGpu
from ..compat.previews import preview_compat, preview_inductor_compat
from ..facts import DEVICES, CodeGenerated, Fact, RanDry
from .attention import attend
from .building import build
from .moving import for_gpu


class LocalPreview:
    """A preview that simulates a device in this process.

    TorchInductor's kernels are compiled for this device.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._limits: tuple[str, ...] = ()
        self._codes: list[CodeGenerated] = []

    def prepare(self) -> None:
        """Patch torch to simulate the device, for the rest of this process."""
        inductor_compat.import_inductor()
        device = DEVICES[self._device]
        pretence = AbsentGpu(device, for_gpu, attend)
        self._limits = tuple(
            f"This torch cannot preview {patch.needed_for}: {patch.replaces} differs from supported versions."
            for patch in preview_compat.stand_in(pretence)
        )
        if device.architecture:
            self._limits += ("A torch built for ROCm may behave differently.",)

    def first(self) -> RanDry:
        """Return the fact that the run is dry, to report before the program runs."""
        return RanDry(self._device, self._limits)

    def take(self, facts: Sequence[Fact]) -> None:
        """Record the generated code that is among the facts of the run."""
        self._codes += (fact for fact in facts if isinstance(fact, CodeGenerated))

    def rest(self) -> Iterator[Fact]:
        """Yield the compiled kernels, then a fact with what only the real GPU can show."""
        if not self._codes:
            return
        tried = False
        for kernel in build(self._codes):
            tried = tried or bool(kernel.others)
            yield kernel
        unknown = dict.fromkeys(preview_inductor_compat.unmeasured)
        if tried:
            unknown["which kernel settings are fastest: the first of several are shown here"] = None
        only = (f"Only the GPU itself can show {aspect}." for aspect in unknown)
        yield RanDry(self._device, (*self._limits, *only))
