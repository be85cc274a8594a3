"""The files that programs find where they run, and what became of them.

Programs of ``cases/files`` write over these, move them and remove them: see
``e2e/dry_runs/test_files_kept.py``.
"""

from __future__ import annotations

import atexit
import bz2
import dbm.dumb
import gzip
import hashlib
import json
import lzma
import os
import pickle
import shutil
import sqlite3
import stat
import tarfile
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import torch
from safetensors.torch import save_file

_LONG_AGO = 1_500_000_000
"""When all of them were written, in seconds: whatever writes now shows."""


class Places(NamedTuple):
    """The folders that a program may write to."""

    workspace: Path
    """Its current folder."""
    home: Path
    outside: Path
    """A folder that has nothing to do with the workspace; ``WAYS_OUTSIDE`` names it."""
    temporary: Path
    memory: Path
    """A folder in shared memory, beside a segment that has its name and ``.segment``."""

    @property
    def variables(self) -> dict[str, str]:
        """The environment that leads a program to them."""
        return {
            "HOME": str(self.home),
            "WAYS_OUTSIDE": str(self.outside),
            "TMPDIR": str(self.temporary),
            "WAYS_MEMORY": str(self.memory),
            "WAYS_SEGMENT": f"{self.memory.name}.segment",
        }

    def files(self) -> dict[str, tuple[object, ...]]:
        """Return all files by path: type, mode and size, content, and modification time."""
        return {
            os.path.join(root, name): _state(Path(root, name))
            for place in self
            for root, folders, names in os.walk(place)
            for name in (*folders, *names)
        } | {path: _state(Path(path)) for path in (*map(str, self), f"{self.memory}.segment")}


def lost(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """What was changed or removed, each with what became of it."""
    return [
        f"{path} was {'changed' if path in after else 'removed'}"
        for path, state in sorted(before.items())
        if after.get(path) != state
    ]


def make_places(folder: Path) -> Places:
    """Fill the folders below ``folder`` with the work of weeks."""
    memory = Path("/dev/shm" if os.path.isdir("/dev/shm") else folder, f"ways-{uuid.uuid4()}")
    places = Places(*(folder / name for name in ("workspace", "home", "outside", "temporary")), memory)
    atexit.register(_remove_memory, memory, os.getpid())
    Path(f"{memory}.segment").write_bytes(b"old" * 100)
    for place in places:
        place.mkdir(parents=True)
        _checkpoint(place / "m.pt", 1)
        (place / "notes.txt").write_text("old notes\n" * 20)
    (places.outside / "runs" / "first").mkdir(parents=True)
    _checkpoint(places.outside / "runs" / "first" / "model.pt", 1)
    _fill_workspace(places)
    for place in places:
        for root, folders, names in os.walk(place, topdown=False):
            for name in (*folders, *names):
                os.utime(Path(root, name), (_LONG_AGO, _LONG_AGO), follow_symlinks=False)
    return places


def _remove_memory(memory: Path, process: int) -> None:
    if os.getpid() != process:  # a forked program that calls its exit functions
        return
    shutil.rmtree(memory, ignore_errors=True)
    Path(f"{memory}.segment").unlink(missing_ok=True)


def _fill_workspace(places: Places) -> None:
    folder = places.workspace
    for step, name in enumerate(("m_bak.pt", "best.ckpt", "read_only.pt", "m.pt.tmp")):
        _checkpoint(folder / name, step)
    (folder / "read_only.pt").chmod(0o444)
    (folder / "link.pt").symlink_to("m.pt")
    (folder / "hard.pt").hardlink_to(folder / "m.pt")
    torch.jit.save(torch.jit.script(torch.nn.Linear(4, 4)), folder / "scripted.pt")
    for name in ("exported.pt2", "package.pt"):
        shutil.copy(folder / "scripted.pt", folder / name)
    save_file({"weight": torch.ones(4, 4), "bias": torch.ones(4)}, folder / "model.safetensors")
    with h5py.File(folder / "weights.h5", "w") as file:
        file.create_dataset("loss", data=np.arange(8.0), maxshape=(None,))
    for step in (1, 2, 3):
        kept = folder / "checkpoints" / f"step_{step}"
        kept.mkdir(parents=True)
        for name in ("model.pt", "optimizer.pt"):
            _checkpoint(kept / name, step)
        (kept / "trainer_state.json").write_text(json.dumps({"step": step}))
    (folder / "linked").symlink_to("checkpoints")
    (folder / "elsewhere").symlink_to(places.outside)
    for name in ("out", "empty"):
        (folder / name).mkdir()
    _checkpoint(folder / "out" / "model.pt", 1)
    for name in ("out/log.txt", "log.txt", "log.txt.1"):
        (folder / name).write_text("old line\n" * 50)
    _fill_with_data(folder)


def _fill_with_data(folder: Path) -> None:
    np.save(folder / "data.npy", np.arange(100))
    np.savez(folder / "data.npz", x=np.arange(100))
    (folder / "data.bin").write_bytes(bytes(range(256)) * 16)
    (folder / "core").write_bytes(b"old")
    (folder / "store").touch()
    (folder / "metrics.csv").write_text("step,loss\n1,0.5\n")
    (folder / "config.json").write_text(json.dumps({"rate": 0.1}))
    (folder / "settings.ini").write_text("[model]\nwidth = 4\n")
    (folder / "state.pkl").write_bytes(pickle.dumps({"step": 1}))
    connection = sqlite3.connect(folder / "db.sqlite")
    with connection:
        connection.execute("CREATE TABLE runs (name TEXT, loss REAL)")
        connection.execute("INSERT INTO runs VALUES ('first', 0.5)")
    connection.close()
    with dbm.dumb.open(str(folder / "shelf"), "c") as shelf:
        shelf[b"step"] = pickle.dumps(1)
    for name, opened in (("log.gz", gzip.open), ("log.bz2", bz2.open), ("log.xz", lzma.open)):
        with opened(folder / name, "wb") as compressed:
            compressed.write(b"old line\n" * 50)
    with zipfile.ZipFile(folder / "archive.zip", "w") as zipped:
        zipped.write(folder / "config.json", "config.json")
    with tarfile.open(folder / "archive.tar.gz", "w:gz") as packed:
        packed.add(folder / "config.json", "config.json")


def _checkpoint(path: Path, step: int) -> None:
    torch.save({"model": torch.nn.Linear(4, 4).state_dict(), "step": step}, path)


def _state(path: Path) -> tuple[object, ...]:
    found = path.lstat()
    content: object = None
    if stat.S_ISLNK(found.st_mode):
        content = os.readlink(path)
    elif stat.S_ISREG(found.st_mode):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    # A folder's time changes with each file that is made in it, and that may be.
    return (
        found.st_mode,
        found.st_nlink if path.is_file() else 0,
        content,
        (found.st_mtime_ns if not stat.S_ISDIR(found.st_mode) else 0),
    )
