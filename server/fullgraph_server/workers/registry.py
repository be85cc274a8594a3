"""torch's own descriptions of graph breaks, from its registry.

The registry belongs to an interpreter's torch, and is read without importing it.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..workspace.bundled import worker_folder
from .probe import CHOOSE, cannot_start

_SECONDS: Final = 20.0
_WHERE: Final = """
import importlib.util, os
spec = importlib.util.find_spec("torch")
print(os.path.dirname(spec.origin) if spec is not None and spec.origin else "")
"""
_PAGE: Final = "https://meta-pytorch.github.io/compile-graph-break-site/gb/{}.html"
"""The page about a graph break, as in ``torch/_dynamo/exc.py``."""
_PLACEHOLDER: Final = re.compile(r"\{[^{}]*\}")
_IS_CODE: Final = re.compile(r'^_|^f?["\']|" \+ |^[a-z_]+$')
"""Matches entries that are not the text itself, but torch's code that builds the text."""


@dataclass(frozen=True, slots=True)
class KnownBreak:
    """torch's description of a graph break.

    ``…`` stands for parts that differ between programs.
    """

    title: str
    explanation: str
    hints: tuple[str, ...]
    url: str


class NoRegistryError(Exception):
    """A failure to read torch's registry; the exception's text is for the user."""


def known_break(python: str, code: str) -> KnownBreak | None:
    """Look up a code (``GB0170``) in the registry of an interpreter's torch.

    Returns ``None`` for an unknown code. Raises :class:`NoRegistryError`.
    """
    entries = _registry(python).get(code)
    if not entries:
        return None
    # The newest description comes first; some entries are code that builds the text.
    told = {
        key: next(filter(None, (_readable(entry.get(key)) for entry in entries)), "")
        for key in ("Gb_type", "Explanation")
    }
    hints = next((found for entry in entries if (found := _hints(entry.get("Hints")))), ())
    return KnownBreak(told["Gb_type"], told["Explanation"], hints, _PAGE.format(code.lower()))


def _registry(python: str) -> dict[str, Any]:
    try:
        ran = subprocess.run(
            [python, "-c", _WHERE],
            cwd=worker_folder(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, ValueError) as error:
        raise NoRegistryError(f"{cannot_start(python, error)} {CHOOSE}") from error
    except subprocess.TimeoutExpired as error:
        raise NoRegistryError(f"{python} did not answer within {_SECONDS:g} s. {CHOOSE}") from error
    folder = ran.stdout.strip()
    if not folder:
        raise NoRegistryError(f"There is no torch in {python}. {CHOOSE}")
    try:
        text = (Path(folder) / "_dynamo" / "graph_break_registry.json").read_text("utf-8")
        registry = json.loads(text)
    except (OSError, ValueError):
        raise NoRegistryError(f"The torch in {python} describes no graph breaks.") from None
    return registry if isinstance(registry, dict) else {}


def _hints(texts: Any) -> tuple[str, ...]:
    """Return the hints; a hint that the registry splits into parts is joined."""
    hints: list[str] = []
    for text in filter(None, map(_readable, texts if isinstance(texts, list) else ())):
        is_open = bool(hints) and not hints[-1].endswith((".", "?"))
        if hints and (text[0].islower() or (is_open and text.startswith("`"))):
            hints[-1] += f" {text}"
        else:
            hints.append(text)
    return tuple(hints)


def _readable(text: Any) -> str:
    """Return a registry text with ``…`` for its placeholders; empty if it is code."""
    if not isinstance(text, str) or _IS_CODE.search(text):
        return ""
    return _PLACEHOLDER.sub("…", " ".join(text.split()))
