"""Files of environment variables (``.env``), read like VS Code's Python extension."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MOST_CHARACTERS = 1 << 20
"""The limit in characters of all values together: Linux cannot start a program with a much larger
environment."""
_REFERENCE = re.compile(r"(?<!\\)\$\{(\w+)\}")


def read_env_file(text: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a file defines.

    ``${NAME}`` in a value refers to an earlier variable of the file or to a variable of ``env``. Lines that
    are not ``NAME=value`` are ignored. Raises ``ValueError`` if the values, with references filled in, are
    too long for an environment.
    """
    variables: dict[str, str] = {}

    def value_of(name: str) -> str:
        return variables.get(name) or env.get(name, "")

    left = _MOST_CHARACTERS
    for line in text.splitlines():
        name, separator, value = (part.strip() for part in line.partition("="))
        if separator and _NAME.fullmatch(name):
            if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
                value = value[1:-1].replace("\\n", "\n")
            parts = _REFERENCE.split(value)
            # Odd indices are names: the length is checked before the value is built.
            left -= sum(len(value_of(part) if index % 2 else part) for index, part in enumerate(parts))
            if left < 0:
                raise ValueError(f"its values are longer than {_MOST_CHARACTERS:,} characters")
            filled = (value_of(part) if index % 2 else part for index, part in enumerate(parts))
            variables[name] = "".join(filled).replace("\\$", "$")
    return variables
