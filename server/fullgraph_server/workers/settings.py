"""The interpreter, folder, environment and limits of a run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fullgraph_compiler.facts import Switches

_GIB = 1 << 30
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True)
class RunSettings:
    """The interpreter, folder and environment of a run, and its limits.

    Limits are in seconds and bytes. ``patience`` is the time limit in seconds for one graph, in runs that
    compile each graph separately. ``switches`` override settings of the program. ``preview_python`` is an
    interpreter that can write and compile kernels for a GPU if ``python`` cannot. A run with ``low_priority``
    yields the processor to other processes.
    """

    python: str
    cwd: Path
    env: Mapping[str, str]
    timeout: float | None = None
    memory: int | None = None
    patience: float = 300.0
    switches: Switches = field(default_factory=Switches)
    preview_python: str | None = None
    low_priority: bool = False

    @property
    def memory_of_a_try(self) -> int | None:
        """The memory limit of one of several tries, in bytes.

        It is below the limit that ends the whole run.
        """
        return self.memory and self.memory * 3 // 4

    def stretched(self, factor: float) -> RunSettings:
        """Return the same settings with time limits multiplied by ``factor``."""
        longer = self.timeout and self.timeout * factor
        return replace(self, timeout=longer, patience=self.patience * factor)

    def within(self, seconds: float | None, usual: float | None = None) -> RunSettings:
        """Return the settings with the user's time limit ``seconds``, else ``usual``."""
        if seconds is None:
            return replace(self, timeout=usual)
        return replace(self, timeout=seconds, patience=seconds)


def memory_limit(gib: float | None) -> int | None:
    """Return the memory limit of a run in bytes.

    It is ``gib`` GiB if given, else three quarters of the machine's or container's memory. ``None`` on
    Windows, where Fullgraph does not watch memory.
    """
    if gib is not None:
        return int(gib * _GIB)
    if not hasattr(os, "sysconf"):
        return None
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        machine = min(machine, int(_CONTAINER_LIMIT.read_text()))
    return machine * 3 // 4
