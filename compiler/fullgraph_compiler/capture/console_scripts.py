"""Find console scripts: the commands that packages install as entry points."""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import entry_points
from types import CodeType

from .modules import NoModuleError

_SCRIPT = """import sys
from {module} import {name}
sys.exit({function}())
"""


@dataclass(frozen=True)
class ConsoleScript:
    """A console script: the path where it is installed, and its function."""

    filename: str
    module: str
    function: str

    def code(self) -> CodeType:
        """Return code that does the same as the installed script.

        Raises the errors of ``compile``.
        """
        name = self.function.partition(".")[0]
        text = _SCRIPT.format(module=self.module, name=name, function=self.function)
        return compile(text, self.filename, "exec", dont_inherit=True)


def find_console_script(name: str) -> ConsoleScript:
    """Find a console script in this interpreter's environment.

    Raises :class:`NoModuleError`.
    """
    scripts = entry_points(group="console_scripts")
    found = next(iter(scripts.select(name=name)), None)
    if found is None:
        near = get_close_matches(name, scripts.names)
        also = f" Similar names: {', '.join(near)}." if near else ""
        looked = f"No package installed for {sys.executable} provides it.{also}"
        raise NoModuleError(f"there is no console script {name}", looked)
    return ConsoleScript(os.path.join(sysconfig.get_path("scripts"), name), found.module, found.attr)
