"""Starts the language server with the libraries that come with it: ``python -I -S start.py``.

Isolated, so that neither the environment nor a file of the workspace can take the place of a module. The
syntax of this file is old, so that an old Python gets as far as to say what is wrong.
"""

# ruff: noqa: E402, UP031, UP036

import os
import sys

if sys.version_info < (3, 10):
    sys.stderr.write(
        "Fullgraph's server needs Python 3.10 or newer, but %s is Python %d.%d: select another interpreter.\n"
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )
    sys.exit(1)

_SERVER = os.path.dirname(os.path.abspath(__file__))
_EXTENSION = os.path.dirname(_SERVER)

sys.path += [
    os.path.join(_EXTENSION, "bundled", "libs"),
    _SERVER,
    os.path.join(_EXTENSION, "compiler"),
]

from fullgraph_server.server import main

if __name__ == "__main__":
    main()
