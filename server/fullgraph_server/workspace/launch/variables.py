"""Variables of launch configurations, such as ``${file}`` or ``${env:NAME}``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

_MOST_CHARACTERS = 1 << 22
"""The limit in characters of all texts of a launch.json, with variables filled in."""
_VARIABLE = re.compile(r"\$\{([^${}]*)\}")


class VariableError(Exception):
    """Raised if a launch configuration cannot run.

    The exception's text completes a sentence about the configuration.
    """


class LaunchVariables:
    """The values of variables about a folder and, if given, about the editor's file."""

    def __init__(self, root: Path, file: Path | None = None) -> None:
        self._of_folder = _of_folder(root)
        self._of_file = _of_file(file, root) if file else {}
        self.about_file = False
        """Whether a variable about the editor's file was filled in."""
        self._left = _MOST_CHARACTERS

    def filled(self, text: object) -> str:
        """Fill in the variables of a text.

        Raises :class:`VariableError` for an unknown variable.
        """
        if not isinstance(text, str) or "\0" in text:
            raise VariableError(f"has {text!r} where a string is needed")
        pieces: list[str] = []
        end = 0
        for found in _VARIABLE.finditer(text):
            pieces += [text[end : found.start()], self._value(found)]
            end = found.end()
            self._spend(len(pieces[-1]))
        self._spend(len(text))
        return "".join([*pieces, text[end:]])

    def _spend(self, characters: int) -> None:
        """Count the characters of a text before the text is built.

        Raises :class:`VariableError` if all texts of the launch.json together become too long.
        """
        self._left -= characters
        if self._left < 0:
            raise VariableError(f"is in a file whose texts are longer than {_MOST_CHARACTERS:,} characters")

    def _value(self, match: re.Match[str]) -> str:
        name = match[1]
        if name.startswith("env:"):
            return os.environ.get(name.removeprefix("env:"), "")
        if name in self._of_file:
            self.about_file = True
            return self._of_file[name]
        if name not in self._of_folder:
            raise VariableError(f"needs {match[0]}, {_remedy(name)}")
        return self._of_folder[name]


def _remedy(name: str) -> str:
    if name in _of_file(Path(), Path()):
        return (
            "which is about the file in the editor: analyze that file itself or, on the command line, name "
            "it after --launch NAME"
        )
    what = "asks for" if name.startswith("input:") else "knows"
    return f"which VS Code alone {what}: write its value there, or make it a target of pyproject.toml"


def _of_folder(root: Path) -> Mapping[str, str]:
    return {
        "workspaceFolder": str(root),
        "workspaceRoot": str(root),
        f"workspaceFolder:{root.name}": str(root),
        "workspaceFolderBasename": root.name,
        "userHome": str(Path.home()),
        "pathSeparator": os.sep,
        "/": os.sep,
    }


def _of_file(file: Path, root: Path) -> Mapping[str, str]:
    return {
        "file": str(file),
        "fileBasename": file.name,
        "fileBasenameNoExtension": file.stem,
        "fileDirname": str(file.parent),
        "fileDirnameBasename": file.parent.name,
        "fileExtname": file.suffix,
        "fileWorkspaceFolder": str(root),
        "relativeFile": os.path.relpath(file, root),
        "relativeFileDirname": os.path.relpath(file.parent, root),
    }
