"""Entry point of a worker: ``PYTHON .../worker/main.py``, spoken to over standard input and output.

Requests: ``initialize {protocol}`` -> ``{protocol, torch, python, pid}``; ``run RunRequest`` -> ``{}``, with
notifications ``facts {generation, facts}`` before it; ``environment`` -> the report that PyTorch's issue
template asks for, as text. The worker ends after its run with exit code 0.
It starts by path, not as a module, so that nothing in the working directory can hide the standard
library, and loads its package by path, so that what lies beside the package stays out of reach.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
if sys.path and os.path.abspath(sys.path[0]) == _HERE:
    del sys.path[0]

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit("Fullgraph needs Python 3.10 or newer, and " + sys.executable + " is " + sys.version.split()[0])

import contextlib  # noqa: E402
import faulthandler  # noqa: E402
import importlib.util  # noqa: E402
import traceback  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

if TYPE_CHECKING:
    from fullgraph_compiler.worker.channel import Channel


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


def _use_run_folder() -> None:
    """Write crashes to the run's folder, and keep this run away from the user's compiler caches.

    The server makes the folder and removes it: a worker may die at any time.
    """
    folder = os.environ.pop("FULLGRAPH_RUN_FOLDER")
    faulthandler.enable(open(os.path.join(folder, "crash.log"), "w"))  # noqa: SIM115 - it outlives all
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        # The place of a crash is known: nobody needs gigabytes of core.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _import_torch() -> str:
    """Import torch; returns a sentence that says why it cannot be used, or nothing."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name == "torch":
            remedy = "install it there (pip install torch) or choose another interpreter"
            return f"{sys.executable} has no torch: {remedy}"
        return f"torch cannot be imported by {sys.executable}: {error}"
    except BaseException as error:
        traceback.print_exc()
        return f"torch cannot be imported by {sys.executable}: {type(error).__name__}: {error}"
    return ""


def main() -> None:
    """Serve one run, then end."""
    _load_package()
    from fullgraph_compiler.worker.channel import Channel

    channel = Channel.take_standard_streams()
    _use_run_folder()
    while (message := channel.read()) is not None:
        method, request, params = message.get("method"), message.get("id"), message.get("params")
        if method == "initialize":
            problem = _import_torch()
            if problem:
                channel.fail(request, problem)
                return
            channel.respond(request, _describe())
        elif method == "environment":
            from torch.utils.collect_env import get_pretty_env_info

            channel.respond(request, get_pretty_env_info())
        elif method == "run":
            _run(channel, params)
            channel.respond(request, {})
            for stream in (sys.stdout, sys.stderr):
                # The program may have closed them, or put anything in their place.
                with contextlib.suppress(Exception):
                    stream.flush()
            # Taking torch's modules apart would cost more time than a small program's run.
            os._exit(0)
        else:
            channel.fail(request, f"a worker knows no method {method}")


def _describe() -> "dict[str, object]":
    from fullgraph_compiler import torch_compat
    from fullgraph_compiler.facts import PROTOCOL_VERSION

    return {
        "protocol": PROTOCOL_VERSION,
        "torch": torch_compat.version(),
        "python": sys.version.split()[0],
        "pid": os.getpid(),
    }


def _run(channel: "Channel", params: Any) -> None:
    from fullgraph_compiler.capture.run import run
    from fullgraph_compiler.facts import RunRequest, from_json

    request = from_json(params)
    assert isinstance(request, RunRequest)
    run(
        request,
        lambda facts: channel.notify("facts", {"generation": request.generation, "facts": facts}),
    )


if __name__ == "__main__":
    main()
