"""Where a program runs, and what it may use up."""

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
    """Interpreter, folder and environment of a run; its seconds and its bytes of memory.

    ``patience`` is how many seconds one graph may take where each is compiled by itself; ``switches`` are
    what the run does otherwise than the program says. ``preview_python`` is an interpreter that can write and
    compile kernels for a GPU where ``python`` cannot.
    """

    python: str
    cwd: Path
    env: Mapping[str, str]
    timeout: float | None = None
    memory: int | None = None
    patience: float = 300.0
    switches: Switches = field(default_factory=Switches)
    preview_python: str | None = None

    @property
    def memory_of_a_try(self) -> int | None:
        """The bytes that one of several tries of a program may use: less than what ends all of them."""
        return self.memory and self.memory * 3 // 4

    def within(self, seconds: float | None, usual: float | None = None) -> RunSettings:
        """The same with the time that somebody has set; where nobody has, the usual one for a run."""
        if seconds is None:
            return replace(self, timeout=usual)
        return replace(self, timeout=seconds, patience=seconds)


def memory_limit(gib: float | None) -> int | None:
    """The bytes that a run may use: so many GiB, else three quarters of what the machine has."""
    if gib is not None:
        return int(gib * _GIB)
    if not hasattr(os, "sysconf"):
        return None  # Windows: nobody watches it there
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        machine = min(machine, int(_CONTAINER_LIMIT.read_text()))
    return machine * 3 // 4
