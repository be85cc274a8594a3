"""Start the language server with its bundled libraries: ``python -I -S start.py``.

Python runs isolated, so that neither the environment nor a file of the workspace can replace a module. This
file uses old syntax, so that an old Python can still report the problem.
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
