"""Tarballs and zip files of a job: read as its folder would be, and trusted in nothing."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faked_run import fullgraph
from fullgraph_server.report.model import Report
from fullgraph_server.traces import archives
from fullgraph_server.traces.logs import NoTraceError
from traces import LOG, SHORT, places, project_of, read

RANKS = {f"job/dedicated_log_torch_trace_rank_{rank}_a.log": LOG if rank else SHORT for rank in range(3)}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The system's folder for temporary files, in which nothing may stay."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project_of(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


def tarball(*members: tuple[str | tarfile.TarInfo, bytes]) -> bytes:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as packed:
        for name, data in members:
            item = tarfile.TarInfo(name) if isinstance(name, str) else name
            item.size = len(data)
            packed.addfile(item, io.BytesIO(data))
    return output.getvalue()


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members:
            packed.writestr(name, data)
    return output.getvalue()


def told(report: Report) -> list[str]:
    return [item.message for item in report.findings if item.kind == "target-error"]


def all_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("tar", bytes),
        ("tar.gz", gzip.compress),
        ("TGZ", gzip.compress),
        ("tar.bz2", bz2.compress),
        ("txz", lzma.compress),
        ("zip", None),
    ],
)
def test_an_archive_is_read_as_its_folder(
    ending: str, pack: Callable[[bytes], bytes] | None, project: Path
) -> None:
    for name, log in RANKS.items():
        (project / name).write_bytes(log)
    members = [*RANKS.items(), ("job/stdout.txt", b"epoch 1")]
    archive = project.parent / f"job.{ending}"
    archive.write_bytes(pack(tarball(*members)) if pack else zipped(*members))
    of_folder, of_archive = fullgraph("trace", "job"), fullgraph("trace", str(archive))
    assert of_archive.output == of_folder.output
    assert of_archive.exit_code == of_folder.exit_code == 1
    one = fullgraph("trace", str(archive), "--rank", "1", "--format", "json")
    assert '"guards"' in one.output


def test_logs_in_it_may_be_packed(project: Path) -> None:
    archive = project.parent / "job.tar"
    archive.write_bytes(tarball(("a.log.gz", gzip.compress(LOG))))
    (project / "a.log").write_bytes(LOG)
    assert places(read(archive, project)) == places(read(project / "a.log", project))


def test_of_several_runs_in_it_the_last_counts(project: Path) -> None:
    items = [tarfile.TarInfo(f"{number}_rank_0_a.log") for number in (1, 2)]
    items[0].mtime = 2
    archive = project.parent / "job.tar"
    archive.write_bytes(tarball((items[0], SHORT), (items[1], LOG)))
    (project / "a.log").write_bytes(SHORT)
    assert places(read(archive, project)) == places(read(project / "a.log", project))


# -- what nobody should trust ------------------------------------------------------------------


def odd(kind: bytes, link: str) -> tarfile.TarInfo:
    item = tarfile.TarInfo("evil.log")
    item.type, item.linkname = kind, link
    return item


def linked() -> zipfile.ZipInfo:
    item = zipfile.ZipInfo("evil.log")
    item.external_attr = (stat.S_IFLNK | 0o777) << 16
    return item


OUTSIDE = "1 log of the archive is left out: the path leads out of the archive"
ODD = "1 log of the archive is left out: not a regular file, but a link or a device"


@pytest.mark.parametrize(
    "packed",
    [
        *(
            pack((name, SHORT), ("job.log", SHORT))
            for name in ("../evil.log", "/tmp/evil.log", "job/../../evil.log", "C:\\evil.log", "..\\evil.log")
            for pack in (tarball, zipped)
        ),
        *(
            tarball((odd(kind, link), b""), ("job.log", SHORT))
            for kind, link in [
                (tarfile.SYMTYPE, "/etc/passwd"),
                (tarfile.LNKTYPE, "job.log"),
                (tarfile.CHRTYPE, ""),
                (tarfile.FIFOTYPE, ""),
            ]
        ),
        zipped((linked(), b"/etc/passwd"), ("job.log", SHORT)),
    ],
    ids=map(str, range(15)),
)
def test_a_member_that_leads_elsewhere_is_left_out(packed: bytes, project: Path) -> None:
    archive = project.parent / f"job.{'zip' if packed.startswith(b'PK') else 'tar'}"
    archive.write_bytes(packed)
    before = all_below(project.parent)
    report = read(archive, project)
    assert told(report) in ([OUTSIDE], [ODD])
    assert report.frames
    assert all_below(project.parent) == before


def test_a_bomb_is_read_up_to_the_limit(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "most_unpacked", lambda _: 1 << 20)
    archive = project.parent / "job.tar.gz"
    bomb = ("job.bin", bytes(1 << 24))
    archive.write_bytes(gzip.compress(tarball(("job.log", SHORT), bomb, ("rank_1.log", SHORT))))
    message = "Only the first 1 MB of the archive were read: unpacked, it is far larger"
    assert told(read(archive, project)) == [message]
    archive.write_bytes(gzip.compress(tarball(bomb)))
    result = fullgraph("trace", str(archive))
    assert result.exit_code == 2
    assert f"{archive} cannot be read: {message}." in result.output.replace("\n", "")


def test_a_zip_that_says_too_small_a_size_is_read_up_to_the_limit(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "most_unpacked", lambda _: 1 << 20)
    archive = project.parent / "job.zip"
    archive.write_bytes(zipped(("a_rank_0.log", SHORT), ("a_rank_1.log", SHORT + bytes(1 << 24))))
    report = read(archive, project)
    assert "Only the first 1 MB of the archive were read: unpacked, it is far larger" in told(report)
    assert [item.rank for item in report.ranks] == [0, 1]


@pytest.mark.skipif(os.name != "posix", reason="where the kernel keeps the limit")
def test_a_header_that_takes_all_memory_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "most_unpacked", lambda _: 1 << 30)
    monkeypatch.setattr(archives, "_MEMORY", 32 << 20)
    header = tarfile.TarInfo("././@PaxHeader")
    header.type = tarfile.XHDTYPE
    archive = project.parent / "job.tar.gz"
    archive.write_bytes(gzip.compress(tarball(("job.log", SHORT), (header, bytes(1 << 26)))))
    assert told(read(archive, project)) == [DAMAGED]


DAMAGED = "The archive is damaged, encrypted or truncated: only the part before the damage was read"


@pytest.mark.parametrize("ending", ["tar", "tar.gz"])
@pytest.mark.parametrize("damage", ["cut", "bent"])
def test_what_comes_before_a_damage_is_read(ending: str, damage: str, project: Path) -> None:
    data = tarball(*((f"rank_{rank}.log", SHORT) for rank in range(3)))
    place = data.index(b"rank_2.log")
    data = data[: place + 20_000] if damage == "cut" else data[:place] + b"RANK" + data[place + 4 :]
    archive = project.parent / f"job.{ending}"
    archive.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    report = read(archive, project)
    assert DAMAGED in told(report)
    assert [item.rank for item in report.ranks] == ([0, 1, 2] if damage == "cut" else [0, 1])


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tar.xz", "tar.bz2", "zip"])
@pytest.mark.parametrize(
    "data",
    [b"", b"x" * 9999, SHORT, zipped(("job.log", SHORT))[:-30]],
    ids=["empty", "other", "log", "cut"],
)
def test_a_file_that_is_no_archive_is_told_in_a_sentence(ending: str, data: bytes, project: Path) -> None:
    archive = project.parent / f"job.{ending}"
    archive.write_bytes(data)
    message = r"job\.\S+ (cannot be read: The archive is damaged, encrypted or truncated|has no trace: .*)\.$"
    with pytest.raises(NoTraceError, match=message):
        read(archive, project)


def test_an_archive_without_logs_is_told(project: Path) -> None:
    archive = project.parent / "job.zip"
    archive.write_bytes(zipped(("a.txt", b"a"), ("b.log", b"no log")))
    with pytest.raises(NoTraceError, match="has no trace: nothing was compiled"):
        read(archive, project)
