"""Assemble a generated program: imports, settings, user's definitions, and parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_LIBRARY = ("base64", "math", "operator", "pickle", "re", "signal", "subprocess", "sys", "traceback", "zlib")


def assemble(
    preamble: Sequence[str], parts: Sequence[str], settings: Sequence[str] = (), of_torch: Sequence[str] = ()
) -> str:
    """Return the text of a program: imports, settings, definitions, and the parts.

    ``preamble`` contains the user's definitions and imports, ``of_torch`` the imports from torch that the
    parts need.
    """
    future = [text for text in preamble if text.startswith("from __future__ ")]
    imports = [text for text in preamble if _is_import(text) and text not in future]
    definitions = [text for text in preamble if not _is_import(text)]
    wanted = [*_standard([*definitions, *parts]), "import torch", *_configurations(settings), *of_torch]
    wanted = [text for text in wanted if text not in imports]
    head = ["\n".join([*future, *wanted, *imports]), "\n".join(settings), *definitions]
    return "\n\n\n".join(part.strip("\n") for part in [*head, *parts] if part) + "\n"


def comment(lines: Sequence[str], holds: str) -> str:
    """Return the top comment of a file: a description, and a warning about user data."""
    text = [*lines, "", f"Before you share this file: {holds}"]
    return "".join(f"# {line}".rstrip() + "\n" for line in text)


def _is_import(text: str) -> bool:
    return text.startswith(("import ", "from "))


def _standard(parts: Sequence[str]) -> Iterator[str]:
    """Yield the imports from the standard library that the parts need."""
    lines = [line for part in parts for line in part.splitlines() if not line.lstrip().startswith("#")]
    words = set(re.findall(r"(?<![\w.])\w+", "\n".join(lines)))
    imports = [f"import {name}" for name in _LIBRARY if name in words]
    imports += ["from collections.abc import Callable"] if "Callable" in words else []
    imports += ["from typing import Any"] if "Any" in words else []
    yield from [*imports, ""] if imports else []


def _configurations(settings: Sequence[str]) -> list[str]:
    matches = (re.match(r"torch\.[\w.]*config\b", line) for line in settings)
    return sorted({f"import {config[0]}" for config in matches if config})
