"""A worker: it serves one run over the descriptors it was started with, then ends.

Requests and their results:

- ``initialize {protocol, libraries, ahead, separate}`` -> ``{protocol, torch, python, pid}``: import torch
  and the libraries. With ``separate``, first create a mount namespace; with ``ahead``, also warm Dynamo up.
- ``run RunRequest`` -> ``{}``, after notifications ``facts {generation, facts}``
- ``minify MinifyRequest``, ``compare CompareRequest``, ``try TrialRequest`` and ``observe CallsRequest``:
  like ``run``
- ``environment`` -> the text of the environment report that PyTorch's issue template asks for

The worker ends after its run with exit code 0, or with ``CHANNEL_LOST`` if the program has closed the
descriptors of the connection.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .channel import ServerChannel
from .imports import import_libraries, import_torch, warm_up

if TYPE_CHECKING:
    from ..facts import Fact

# A program may replace these functions with its own.
_exit, _open, _dump_traceback = os._exit, open, faulthandler.dump_traceback


def serve(folder: str, *, own_lifeline: bool, stdin: int | None = None) -> None:
    """Serve one run, then exit.

    ``folder`` is the folder of the run; Fullgraph's server creates and removes it. With ``own_lifeline``,
    this process watches the connection itself, and ends when that server has gone. The program's standard
    input is the descriptor ``stdin``, or empty if ``stdin`` is ``None``.
    """
    log = os.path.join(folder, "crash.log")
    channel = ServerChannel.take_standard_streams(lambda: _write_stack(log), stdin)
    _use_run_folder(folder, log)
    while (message := channel.read()) is not None:
        method, request, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method == "initialize":
            if params.get("separate"):
                _separate()
            problem = import_torch()
            if problem:
                channel.fail(request, problem)
                return
            import_libraries(params.get("libraries", ()), folder)
            if params.get("ahead"):
                warm_up()
            channel.respond(request, _describe())
        elif method == "environment":
            from torch.utils.collect_env import get_pretty_env_info

            channel.respond(request, get_pretty_env_info())
        elif method in ("run", "minify", "compare", "try", "observe"):
            if own_lifeline:
                threading.Thread(target=_die_with_server, args=(channel,), daemon=True).start()
            try:
                _run(channel, params, folder)
            except BaseException as error:
                # Exceptions of the program are reported as facts, so this is an error of Fullgraph.
                with contextlib.suppress(Exception):
                    traceback.print_exc()
                channel.fail(request, traceback.format_exception_only(type(error), error)[-1].strip())
            else:
                channel.respond(request, {})
            for stream in (sys.stdout, sys.stderr):
                # The program may have closed or replaced them.
                with contextlib.suppress(Exception):
                    stream.flush()
            # An ordinary exit tears down torch's modules, which takes longer than a small program's run.
            _exit(0)
        else:
            channel.fail(request, f"a worker has no method {method}")


def _separate() -> None:
    """Create a mount namespace now, while this process has only one thread.

    Libraries that are imported later may start more threads.
    """
    from ..files.covering import NamespaceError
    from ..files.namespace import separate

    # The run tries again, and reports a failure.
    with contextlib.suppress(NamespaceError):
        separate()


def _write_stack(log: str) -> None:
    """Write the program's stack to the crash log, which is opened anew.

    The program may have closed the log's original descriptor.
    """
    with contextlib.suppress(Exception), _open(log, "w") as stream:
        _dump_traceback(stream)


def _use_run_folder(folder: str, log: str) -> None:
    """Put the crash log and compiler caches into the run's folder, not the user's."""
    faulthandler.enable(open(log, "w"))  # noqa: SIM115 - open until the process ends
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        # The crash log has the stack, so a core dump of gigabytes is not needed.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _describe() -> dict[str, object]:
    from ..compat import torch_compat
    from ..facts import PROTOCOL_VERSION

    return {
        "protocol": PROTOCOL_VERSION,
        "torch": torch_compat.version(),
        "python": sys.version.split()[0],
        "pid": os.getpid(),
    }


def _run(channel: ServerChannel, params: Any, folder: str) -> None:
    from ..facts import (
        CallsRequest,
        CompareRequest,
        RunFinished,
        RunRequest,
        TargetProblem,
        TrialRequest,
        from_json,
    )
    from ..files.protection import discard_files, is_wanted

    request = from_json(params)

    def sink(facts: list[Fact]) -> None:
        channel.notify("facts", {"generation": request.generation, "facts": facts})

    if isinstance(request, RunRequest) and request.low_priority and sys.platform != "win32":
        os.nice(19)
    if isinstance(request, (RunRequest, TrialRequest, CallsRequest)) and request.threads:
        import torch

        torch.set_num_threads(min(request.threads, torch.get_num_threads()))
    if is_wanted(request):
        try:
            sink([discard_files(request, Path(folder))])
        except Exception as error:
            traceback.print_exc()
            problem = f"The run was not started, because its file changes cannot be discarded: {error}"
            sink([TargetProblem("error", problem), RunFinished("not-started", 0.0)])
            return
    if isinstance(request, CompareRequest):
        from ..verify.comparing import compare

        compare(request, sink)
        return
    if isinstance(request, TrialRequest):
        from ..verify.trials import try_statements

        try_statements(request, sink)
        return
    if isinstance(request, CallsRequest):
        from ..verify.observing import observe_calls

        observe_calls(request, sink)
        return
    from ..analyses.entry import entry_of

    entry = entry_of(request)
    if problem := entry.unsuited(request):
        sink([TargetProblem("error", problem), RunFinished("not-started", 0.0)])
    else:
        entry.run(request, sink, channel.adopt)


def _die_with_server(channel: ServerChannel) -> None:
    """Wait until Fullgraph's server has gone, then kill this process and its group."""
    while channel.read() is not None:
        pass
    if sys.platform != "win32":
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
