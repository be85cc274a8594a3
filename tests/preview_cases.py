"""Parser of what a program of ``tests/cases/preview`` declares about itself.

The declarations are comments below its docstring::

    # backward
    # otherwise: the fastest of several templates is chosen on the device
    # no kernels

``backward``: a backward graph is compiled, too. ``otherwise``: a preview cannot have the kernels of a device,
and why. ``no kernels``: library functions compute all of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "cases" / "preview"
_SAID = re.compile(r"^# (?P<what>backward|no kernels|otherwise)(?:: (?P<why>.+))?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """A program and its comments.

    ``otherwise`` is empty if a preview has the kernels of a device.
    """

    path: Path
    backward: bool
    otherwise: str
    kernels: bool

    @property
    def name(self) -> str:
        """As in ``tests/cases/preview/NAME.py``."""
        return self.path.stem


def read_case(path: Path) -> Case:
    """The case that a file is."""
    said = {found["what"]: found["why"] or "" for found in _SAID.finditer(path.read_text(encoding="utf-8"))}
    return Case(path, "backward" in said, said.get("otherwise", ""), "no kernels" not in said)


def cases() -> list[Case]:
    """All of them, by name."""
    return [read_case(path) for path in sorted(FOLDER.glob("*.py"))]
