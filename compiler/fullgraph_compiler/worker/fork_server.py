"""The fork server: it imports torch once, and forks a worker for each run.

It also imports libraries, and ends leftover processes. Over a Unix socket that preserves message boundaries
(descriptor 0), it exchanges JSON messages with Fullgraph's server: the language server or a command. Messages
from Fullgraph's server:

- ``{"warm": [library, ...], "ahead": false, "folder": "..."}``: import libraries, with temporary files in the
  folder; with ``ahead``, also warm Dynamo up for later runs. This message may be sent several times. The
  answer is ``{"ready": {"problem": "", "unsafe": ""}}``.
- ``{"fork": id, "cwd": "...", "folder": "...", "memory": bytes | null}`` with two or three descriptors: the
  worker's channel, its output and, if it has any, its input. The answer is ``{"forked": id, "pid": pid}``.
- ``{"kill": id}`` and ``{"abort": id}``: send SIGKILL or SIGABRT to a worker
- ``{"stay": seconds, "path": "..."}`` with the socket that listens at the path

Messages to Fullgraph's server: ``{"exceeded": id}`` if a worker exceeded its memory limit and gets SIGABRT,
and ``{"exited": id, "code": code}``.

After ``stay``, the fork server detaches from the server that started it, and waits this many seconds until
another server of the same user connects. Without a request, it sends ``{"ready": ..., "pid": pid, "mark":
"..."}`` to this server. If an imported file has changed, it closes the connection instead.

The fork server never starts a thread, opens a GPU or runs user code; after the imports it checks whether a
library did (``unsafe``).

Exit codes: 0 if Fullgraph's server has gone, :data:`ENVIRONMENT_CHANGED` if packages were installed or
removed.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import shutil
import signal
import socket
import struct
import sys
import sysconfig
import traceback
import weakref
from collections.abc import Container
from dataclasses import dataclass
from typing import Any, NoReturn

from ..processes import processes
from ..processes.gpu import GPU_DEVICES, has_gpu
from . import session
from .imported import ImportedFiles
from .imports import import_dynamo, import_libraries, import_torch, warm_up

ENVIRONMENT_CHANGED = 3

_MESSAGE_BYTES = 1 << 20
_WATCH_SECONDS = 0.2
"""The seconds between two checks of the workers' memory."""


def serve() -> NoReturn:
    """Serve Fullgraph's servers, one after another, until no server is left."""
    control = socket.socket(fileno=os.dup(0))
    processes.adopt_orphans()
    server = _ForkLoop(control)
    server.serve()
    _detach()
    server.prepare()
    while True:
        server.wait_for_client()
        server.serve()


@dataclass
class _ForkRequest:
    id: int
    cwd: str
    folder: str
    memory: int | None


@dataclass
class _StayRequest:
    listener: socket.socket
    path: str
    seconds: float


class _ForkLoop:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._workers: dict[int, _ForkRequest] = {}
        self._packages = _packages_stamp()
        self._imported = ImportedFiles()
        self._stay: _StayRequest | None = None
        self._selector = selectors.DefaultSelector()
        self._signalled, signalling = socket.socketpair()
        self._signals = (self._signalled, signalling)
        for end in self._signals:
            end.setblocking(False)
        # The handler does nothing: the byte that the signal writes to the socket wakes the loop.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(signalling.fileno(), warn_on_full_buffer=False)
        self._selector.register(control, selectors.EVENT_READ)
        self._selector.register(self._signalled, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve until Fullgraph's server sends ``stay``; exit if that server has gone."""
        try:
            self._loop()
        except OSError:
            traceback.print_exc()  # the server ended during a send
        self._end_all()
        if self._stay is None:
            os._exit(0)
        self._selector.unregister(self._control)
        self._control.close()

    def prepare(self) -> None:
        """Do the slow work of a first compilation now, unless a server already waits."""
        assert self._stay is not None
        if _has_client(self._stay.listener):
            return
        warm_up()
        self._imported.note()
        if _settle():
            self._leave()

    def wait_for_client(self) -> None:
        """Wait until another server of the same user connects.

        Exit if no server connects in time, or if an imported file is outdated.
        """
        assert self._stay is not None
        client = _accept(self._stay.listener, self._stay.path, self._stay.seconds)
        if client is None or self._is_outdated():
            self._leave()
        self._forget_stay()
        self._control = client
        self._selector.register(client, selectors.EVENT_READ)
        with contextlib.suppress(OSError):  # the server has gone, which the loop notices
            mark = os.environ.get("FULLGRAPH_FORK_SERVER", "")
            self._send(ready={"problem": "", "unsafe": ""}, pid=os.getpid(), mark=mark)

    def _loop(self) -> None:
        while self._stay is None:
            watching = any(worker.memory for worker in self._workers.values())
            ready = {key.fileobj for key, _ in self._selector.select(_WATCH_SECONDS if watching else None)}
            if self._signalled in ready:
                with contextlib.suppress(BlockingIOError):
                    self._signalled.recv(4096)
            self._reap()
            if self._control in ready:
                message, descriptors, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 3)
                if not message:
                    return
                self._obey(json.loads(message), descriptors)
            self._watch()

    def _leave(self) -> NoReturn:
        self._forget_stay()
        os._exit(0)

    def _forget_stay(self) -> None:
        """Remove and close the listening socket, so that no further server connects."""
        assert self._stay is not None
        with contextlib.suppress(OSError):
            os.unlink(self._stay.path)
        self._stay.listener.close()
        self._stay = None

    def _is_outdated(self) -> bool:
        """Return whether packages or imported files have changed since the imports."""
        return _packages_stamp() != self._packages or self._imported.is_outdated()

    def _end_all(self) -> None:
        """Kill every worker with its descendants, and remove the workers' run folders."""
        for pid in self._workers:
            _kill_group(pid)
        self._end_orphans(keep=frozenset())
        for worker in self._workers.values():
            shutil.rmtree(worker.folder, ignore_errors=True)
        self._workers.clear()

    def _obey(self, message: dict[str, Any], descriptors: list[int]) -> None:
        if "warm" in message:
            ready = _warm(message["warm"], message["ahead"], message["folder"])
            self._imported.note()
            self._send(ready=ready)
        elif "fork" in message:
            if _packages_stamp() != self._packages:
                os._exit(ENVIRONMENT_CHANGED)
            worker = _ForkRequest(message["fork"], message["cwd"], message["folder"], message["memory"])
            self._fork(worker, *descriptors)
        elif "stay" in message:
            self._stay = _StayRequest(socket.socket(fileno=descriptors[0]), message["path"], message["stay"])
            # Peers now see the credentials of this process, not of the one that made the socket.
            self._stay.listener.listen(1)
        else:
            number, wanted = (signal.SIGABRT, "abort") if "abort" in message else (signal.SIGKILL, "kill")
            pid = next((pid for pid, worker in self._workers.items() if worker.id == message[wanted]), None)
            if pid is not None:
                os.kill(pid, number)

    def _fork(self, worker: _ForkRequest, channel: int, output: int, stdin: int | None = None) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self._become_worker(parent, channel, output)
                os.chdir(worker.cwd)
                session.serve(worker.folder, own_lifeline=False, stdin=stdin)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        for descriptor in (channel, output, stdin):
            if descriptor is not None:
                os.close(descriptor)
        self._workers[pid] = worker
        self._send(forked=worker.id, pid=pid)

    def _become_worker(self, parent: int, channel: int, output: int) -> None:
        """Turn this forked process into a worker: drop all resources of the fork server."""
        os.setsid()
        processes.die_with_parent(parent)
        # Processes that a program leaves in other sessions become children of the worker until it ends.
        processes.adopt_orphans()
        processes.prefer_for_oom_kill()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for end in (self._control, *self._signals):
            end.close()
        for target, source in ((0, channel), (1, channel), (2, output)):
            os.dup2(source, target)
        os.close(channel)
        os.close(output)
        _seed_numpy()

    def _reap(self) -> None:
        """Report the workers that have ended, and kill the processes that they left."""
        ended = []
        with contextlib.suppress(ChildProcessError):
            while (child := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = child
                if pid in self._workers:
                    _kill_group(pid)
                    ended.append((self._workers.pop(pid), os.waitstatus_to_exitcode(status)))
        if ended:
            self._end_orphans(keep=self._workers.keys())
        for worker, code in ended:
            self._send(exited=worker.id, code=code)

    def _end_orphans(self, keep: Container[int]) -> None:
        """Kill the processes that ended workers left, until none is left.

        The fork server has adopted these processes. Processes in ``keep`` stay alive.
        """
        while orphans := [pid for pid in processes.children(os.getpid()) if pid not in keep]:
            for pid in orphans:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            for pid in orphans:
                with contextlib.suppress(OSError):
                    os.waitpid(pid, 0)

    def _watch(self) -> None:
        for pid, worker in self._workers.items():
            if worker.memory and processes.uses_more_than(pid, worker.memory):
                worker.memory = None
                self._send(exceeded=worker.id)
                os.kill(pid, signal.SIGABRT)

    def _send(self, **message: Any) -> None:
        self._control.send(json.dumps(message).encode())


def _seed_numpy() -> None:
    """Seed NumPy's generator as its import does, so that forks draw different numbers.

    Python itself reseeds only its own generator after a fork. A seed that a library has set is not changed.
    """
    random = sys.modules.get("numpy.random")
    with contextlib.suppress(AttributeError):  # NumPy before 1.24
        if random is not None and random.get_bit_generator().seed_seq is not None:
            random.seed()


def _detach() -> None:
    """Continue as a process that is not a child of Fullgraph's server.

    The new process has no descriptor of that server open.
    """
    if os.fork():
        os._exit(0)
    os.setsid()
    processes.adopt_orphans()
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def _accept(listener: socket.socket, path: str, seconds: float) -> socket.socket | None:
    """Return a matching process's first connection within ``seconds``, or ``None``.

    ``_is_alike`` says whether a process matches. Return ``None`` also if the socket is gone from its path:
    nobody else can connect then, and the process that connected last only wanted to end this process.
    """
    listener.settimeout(seconds)
    with contextlib.suppress(OSError):
        while True:
            client, _ = listener.accept()
            if _is_alike(client):
                client.setblocking(True)
                return client
            client.close()
            if not os.path.exists(path):
                return None
    return None


def _has_client(listener: socket.socket) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        return bool(selector.select(0))


def _is_alike(client: socket.socket) -> bool:
    """Return whether a connection's peer has the same user and sees the same files.

    A run whose files are covered is in other namespaces. A worker forked here for such a run would not be
    covered.
    """
    credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, _ = struct.unpack("3i", credentials)
    try:
        return user == os.geteuid() and _namespaces(pid) == _namespaces("self")
    except OSError:  # the peer has gone, or its namespaces cannot be read
        return False


def _namespaces(process: int | str) -> list[str]:
    return [os.readlink(f"/proc/{process}/ns/{name}") for name in ("mnt", "user")]


def _warm(libraries: list[str], ahead: bool, folder: str) -> dict[str, str]:
    problem = import_torch()
    if problem:
        return {"problem": problem, "unsafe": ""}
    from ..capture import run  # noqa: F401
    from ..compat import gpu_compat

    import_dynamo()
    if has_gpu():
        libraries = [name for name in libraries if not gpu_compat.asks_for_gpu(name)]
    import_libraries(libraries, folder)
    if ahead:
        warm_up()
    return {"problem": "", "unsafe": _settle()}


def _settle() -> str:
    """Prepare to fork; return why a fork may fail, or an empty string."""
    # The end of the process releases the same resources: these finalizers would only delay a worker's exit.
    for finalizer in weakref.finalize._registry:  # type: ignore[attr-defined]
        finalizer.atexit = False
    gc.collect()
    gc.freeze()
    # Libraries that support fork (OpenBLAS) end their threads before a fork, and start them again on demand.
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    if processes.has_open(GPU_DEVICES):
        return "a library has opened the GPU"  # whose driver does not survive a fork
    count = processes.threads()
    return f"libraries have started {count - 1} threads" if count > 1 else ""


def _packages_stamp() -> tuple[int, ...]:
    """Return a value that changes when a package is installed or removed."""
    stamps = []
    for name in ("purelib", "platlib"):
        with contextlib.suppress(OSError):
            stamps.append(os.stat(sysconfig.get_path(name)).st_mtime_ns)
    return tuple(stamps)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
