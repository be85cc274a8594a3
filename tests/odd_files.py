"""Files that a reader must handle with care: each is named ``odd.py``, or similar."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

_CALL = "# fullgraph: f({})\ndef f(*x): ...\n"


def _not_utf8(folder: Path) -> None:
    name = os.path.join(os.fsencode(folder), b"odd\xff.py")
    with open(name, "w") as stream:
        stream.write(_CALL.format(""))


def _huge(folder: Path) -> None:
    with (folder / "odd.py").open("w") as stream:
        stream.write(_CALL.format(""))
        stream.truncate(1 << 32)


def _text(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "odd.py").write_text(text)


ODD: Mapping[str, Callable[[Path], object]] = {
    "a name that is not UTF-8": _not_utf8,
    "a pipe": lambda folder: os.mkfifo(folder / "odd.py"),
    "a link to a device": lambda folder: (folder / "odd.py").symlink_to("/dev/zero"),
    "a link to itself": lambda folder: (folder / "odd.py").symlink_to(folder / "odd.py"),
    "a folder": lambda folder: (folder / "odd.py").mkdir(),
    "a huge file": _huge,
}
"""What is not read."""

DEEP: Mapping[str, Callable[[Path], object]] = {
    "minus signs in a where": _text(_CALL.format("1) where item@2 = " + "-" * 20_000 + "1")),
    "digits in a where": _text(_CALL.format("1) where item@" + "9" * 20_000 + " = 1")),
    "minus signs in a call": _text(_CALL.format("-" * 20_000 + "1")),
    "brackets": _text(_CALL.format("1") + "x = " + "(" * 20_000 + ")" * 20_000 + "\n"),
    "a long sum": _text(_CALL.format("1") + "x = " + "1 + " * 20_000 + "1\n"),
    "many branches": _text(_CALL.format("1") + "if a: b\n" + "elif a: b\n" * 2_500),
    "a docstring": _text('def f():\n    """\n    >>> f()  ' + "#doctest:" * 40_000 + '\'\n    """\n'),
}
"""What is read, and is too deep or too long for something."""
