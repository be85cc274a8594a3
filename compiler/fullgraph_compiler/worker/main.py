"""The entry point of Fullgraph's processes in the user's interpreter.

It is started as ``PYTHON .../worker/main.py``. Without arguments, the process is a worker (``session``). With
``--fork-server``, it forks workers. With ``--examples`` and their JSON, it runs example calls without
observation, for a debugger.

The module is started by its path, so that files in the working directory cannot shadow the standard library.
It loads its package by path, so that modules next to the package cannot be imported.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
if sys.path and os.path.abspath(sys.path[0]) == _HERE:
    del sys.path[0]

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit("Fullgraph needs Python 3.10 or newer, and " + sys.executable + " is " + sys.version.split()[0])

import importlib.util  # noqa: E402


def _load_package() -> None:
    folder = os.path.dirname(_HERE)
    spec = importlib.util.spec_from_file_location(
        "fullgraph_compiler", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fullgraph_compiler"] = module
    spec.loader.exec_module(module)


def main() -> None:
    """Run the kind of process that the command-line arguments select."""
    _load_package()
    if sys.argv[1:] == ["--fork-server"]:
        from fullgraph_compiler.worker import fork_server

        fork_server.serve()
    elif sys.argv[1:2] == ["--examples"]:
        from fullgraph_compiler.worker import alone

        alone.run(sys.argv[2])
    else:
        from fullgraph_compiler.worker import session

        stdin = os.environ.pop("FULLGRAPH_STDIN", None)
        session.serve(
            os.environ.pop("FULLGRAPH_RUN_FOLDER"), own_lifeline=True, stdin=int(stdin) if stdin else None
        )


if __name__ == "__main__":
    main()
