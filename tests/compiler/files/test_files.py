"""Runs that change no file: which folders are covered, by whom, and what a program sees of its own writes."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from at_risk import as_each, content, covered, folder, in_child
from fullgraph_compiler.files import covering
from fullgraph_compiler.files.mounts import Cover, Mount, covers, read_mounts
from fullgraph_compiler.files.sockets import SocketDescriptors

__all__ = ["folder"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's part is Linux's alone")


# -- the mount table ---------------------------------------------------------------------------


def test_a_mount_table_is_read(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(
        "22 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw\n"
        "30 28 8:1 / /mnt/my\\040disk rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw,errors=remount-ro\n"
        "31 28 8:2 / /snap/core ro,nodev - squashfs /dev/loop0 ro\n"
        "32 28 8:3 / /frozen rw,relatime - ext4 /dev/sdb1 ro\n"
    )
    assert read_mounts(str(table)) == [
        Mount("/proc", "proc", False),
        Mount("/mnt/my disk", "ext4", False),
        Mount("/snap/core", "squashfs", True),
        Mount("/frozen", "ext4", True),
    ]


def test_a_socket_that_goes_while_folders_are_covered_is_left_out(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    covering._uncover(SocketDescriptors({gone: 0}, {gone: None}), [Cover(str(tmp_path), "folder")])


def test_folders_with_mounts_below_them_are_split(tmp_path: Path) -> None:
    for name in ("home/one", "home/two", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home" / "readme").touch()
    (tmp_path / "link").symlink_to("other")
    root = str(tmp_path)
    mounts = [Mount(root, "ext4", False), Mount(f"{root}/home/two", "nfs4", False)]
    found = list(covers(mounts))
    assert sorted(found, key=lambda cover: cover.path) == [
        Cover(root, "split"),
        Cover(f"{root}/home", "split"),
        Cover(f"{root}/home/one", "folder"),
        Cover(f"{root}/home/two", "folder"),
        Cover(f"{root}/other", "folder"),
    ]
    assert [cover.path for cover in found if cover.kind == "split"] == [root, f"{root}/home"]


def test_what_the_kernel_shows_and_what_cannot_be_written_is_not_covered(tmp_path: Path) -> None:
    mounts = [
        Mount("/proc", "proc", False),
        Mount("/sys", "sysfs", False),
        Mount(str(tmp_path), "ext4", True),
    ]
    assert list(covers(mounts)) == []
    assert list(covers([Mount("/dev/shm", "tmpfs", False)])) == [Cover("/dev/shm", "folder")]
    assert list(covers([Mount("/run/user/1000", "tmpfs", False)])) != []


# -- the namespace -----------------------------------------------------------------------------


@as_each
def test_native_code_and_children_see_what_they_wrote_and_nobody_else(folder: Path, as_nobody: bool) -> None:
    before = content(folder)

    def work() -> list[str]:
        libc = ctypes.CDLL(None)
        libc.unlink(b"m.pt")
        subprocess.run(
            "echo two >> log.txt; mkdir out; cp log.txt out/; rm -r checkpoints", shell=True, check=True
        )
        return sorted(os.listdir(".")) + Path("out/log.txt").read_text().split()

    assert covered(folder, work, as_nobody=as_nobody) == ["log.txt", "out", "one", "two"]
    assert content(folder) == before


@pytest.mark.parametrize("shared", [False, True], ids=["own folder", "shared folder"])
def test_writes_below_a_folder_of_another_user_go_to_the_cover(folder: Path, shared: bool) -> None:
    def work() -> list[str]:
        Path("new.txt").write_text("new")
        folder.joinpath("log.txt").write_text("two\n")
        shutil.rmtree(folder / "checkpoints")
        return sorted([*os.listdir(folder), *os.listdir()])

    before = content(folder)
    start = folder.parent if shared else folder
    found = covered(folder, work, as_nobody=True, below_root=True, start=start)
    assert {"log.txt", "m.pt", "new.txt"} <= set(found)
    assert "checkpoints" not in found
    assert content(folder) == before
    assert not (start / "new.txt").exists()


@as_each
def test_folders_are_renamed(folder: Path, as_nobody: bool) -> None:
    before = content(folder)

    def work() -> list[str]:
        os.rename("checkpoints/step_1", "checkpoints/step_2")
        os.mkdir("empty")
        os.replace("checkpoints", "empty")
        Path("empty/step_2").rename("last")
        return sorted(map(str, Path().rglob("*.pt")))

    assert covered(folder, work, as_nobody=as_nobody) == ["last/m.pt", "m.pt"]
    assert content(folder) == before


@as_each
def test_a_cover_cannot_be_taken_off(folder: Path, as_nobody: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(folder)

    def work() -> list[int]:
        place = bytes(Path(tempfile.gettempdir()))
        taken_off = ctypes.CDLL(None).umount2(place, 2)
        code = "print syscall(166, $ENV{PLACE}, 2)"  # umount2
        child = subprocess.run(
            ["/usr/bin/env", "PATH=/usr/bin:/bin", "perl", "-e", code],
            env={**os.environ, "PLACE": os.fsdecode(place)},
            capture_output=True,
            text=True,
        )
        subprocess.run(
            f"rm -f /proc/{os.getppid()}/cwd/m.pt {folder}/m.pt", shell=True, stderr=subprocess.DEVNULL
        )
        return [taken_off, int(child.stdout)]

    monkeypatch.chdir(folder)
    assert covered(folder, work, as_nobody=as_nobody) == [-1, -1]
    assert content(folder) == before


@as_each
def test_who_listens_at_a_local_socket_is_reached(folder: Path, as_nobody: bool) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
        os.chmod(folder / "socket", 0o666)
        server.listen()

        def work() -> str:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect("socket")
            return "connected"

        assert covered(folder, work, as_nobody=as_nobody) == "connected"


def test_permissions_count_as_in_any_other_run(folder: Path) -> None:
    (folder / "log.txt").chmod(0o444)

    def work() -> str:
        Path("log.txt").write_text("")
        return "written"

    answer = covered(folder, work, as_nobody=True)
    assert answer == "PermissionError: [Errno 13] Permission denied: 'log.txt'"


def test_the_layers_of_a_cover_can_be_removed(folder: Path) -> None:
    covered(folder, lambda: os.makedirs("a/b"), as_nobody=True)
    # As the server would, which runs as the same user.
    others = [path for path in folder.parent.iterdir() if path != folder]
    in_child(lambda: [shutil.rmtree(path) for path in others], as_nobody=True)
    assert list(folder.parent.iterdir()) == [folder]
