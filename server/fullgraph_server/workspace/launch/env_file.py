"""Files of environment variables (``.env``), as VS Code's Python extension reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_REFERENCE = re.compile(r"(?<!\\)\$\{(\w+)\}")


def read_env_file(text: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a file sets; ``${NAME}`` in it is one of them or of ``env``.

    Lines of another form than ``NAME=value`` have no meaning.
    """
    variables: dict[str, str] = {}

    def value_of(match: re.Match[str]) -> str:
        return variables.get(match[1]) or env.get(match[1], "")

    for line in text.splitlines():
        name, separator, value = (part.strip() for part in line.partition("="))
        if separator and _NAME.fullmatch(name):
            if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
                value = value[1:-1].replace("\\n", "\n")
            variables[name] = _REFERENCE.sub(value_of, value).replace("\\$", "$")
    return variables
