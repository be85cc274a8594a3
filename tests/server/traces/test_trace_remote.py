"""Traces at URLs: a job in a bucket of S3 is read as its folder would be, and no byte of it twice."""

from __future__ import annotations

import io
import json
import re
import socket
import sys
import tarfile
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import boto3
import fsspec
import pytest
from faked_run import fullgraph
from fullgraph_server.traces import remote, spread
from moto.server import DomainDispatcherApplication, create_backend_app
from traces import LOG, SHORT, project_of
from werkzeug.serving import make_server


class Server:
    """A server of S3 with one bucket, and the bytes that it has sent of each object."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self._app = DomainDispatcherApplication(create_backend_app)
        self.server = make_server("127.0.0.1", 0, self, threaded=True)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.client: Any = None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        for part in self._app(environ, start_response):
            if environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].endswith((".log", ".gz", ".tar")):
                self.sent[environ["PATH_INFO"]] += len(part)
            yield part

    def put(self, key: str, data: bytes) -> None:
        self.client.put_object(Bucket="bucket", Key=key, Body=data)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    own = Server()
    thread = threading.Thread(target=own.server.serve_forever, daemon=True)
    thread.start()
    yield own
    own.server.shutdown()
    thread.join()


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The system's folder for temporary files, in which nothing may stay."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield
    assert not list(folder.iterdir())


@pytest.fixture(autouse=True)
def account(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The place of the server and its keys, in the environment as users have them."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    if server.client is None:
        server.client = boto3.client("s3", endpoint_url=server.url)
        server.client.create_bucket(Bucket="bucket")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project_of(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


def ranks(folder: Path) -> dict[str, bytes]:
    """Write the logs of three ranks into a folder; they are returned as well."""
    logs = {f"dedicated_log_torch_trace_rank_{rank}_a.log": LOG if rank else SHORT for rank in range(3)}
    for name, log in logs.items():
        (folder / name).write_bytes(log)
    return logs


@pytest.mark.parametrize(("output", "processes"), [("text", False), ("json", True)])
def test_a_job_in_a_bucket_is_read_as_its_folder(
    output: str, processes: bool, server: Server, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if processes:
        monkeypatch.setattr(spread, "_WORTH_PROCESSES", 0)
        monkeypatch.setattr("os.cpu_count", lambda: 2)
    logs = ranks(project / "job")
    key = f"{output}{processes}"
    for name, log in logs.items():
        server.put(f"{key}/{name}", log)
    server.put(f"{key}/checkpoint.pt", bytes(1000))
    here = fullgraph("trace", "job", "--format", output)
    there = fullgraph("trace", f"s3://bucket/{key}/", "--format", output)
    assert there.stderr == ""
    assert there.stdout == here.stdout.replace(str(project / "job"), f"s3://bucket/{key}/")
    assert there.exit_code == here.exit_code == 1
    sent = {name: server.sent[f"/bucket/{key}/{name}"] for name in logs}
    assert sent == {name: len(log) for name, log in logs.items()}, "each byte once"


def test_one_log_and_one_rank(server: Server, project: Path) -> None:
    for name, log in ranks(project / "job").items():
        server.put(f"one/{name}", log)
    (project / "a.log").write_bytes(SHORT)
    here = fullgraph("trace", "a.log")
    name = "dedicated_log_torch_trace_rank_0_a.log"
    assert fullgraph("trace", f"s3://bucket/one/{name}").output == here.output
    assert fullgraph("trace", "s3://bucket/one", "--rank", "0").output == here.output
    sent = {key: size for key, size in server.sent.items() if key.startswith("/bucket/one/")}
    assert sent == {f"/bucket/one/{name}": 2 * len(SHORT)}, "no other rank is read"


def test_renamed_logs_get_their_ranks_from_their_records(server: Server, project: Path) -> None:
    for rank, name in enumerate(["a.log", "b.log"]):
        log = LOG.replace(b'"frame_id": ', b'"rank": %d, "frame_id": ' % rank)
        (project / "job" / name).write_bytes(log)
        server.put(f"renamed/{name}", log)
    there = fullgraph("trace", "s3://bucket/renamed")
    assert "on 2 ranks" in there.output.splitlines()[-1]
    assert there.output == fullgraph("trace", "job").output
    assert server.sent["/bucket/renamed/a.log"] == (project / "job" / "a.log").stat().st_size


def test_an_archive_in_a_bucket(server: Server, project: Path) -> None:
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as packed:
        for name, log in ranks(project / "job").items():
            item = tarfile.TarInfo(name)
            item.size = len(log)
            packed.addfile(item, io.BytesIO(log))
    server.put("job.tar", output.getvalue())
    assert fullgraph("trace", "s3://bucket/job.tar").output == fullgraph("trace", "job").output
    assert server.sent["/bucket/job.tar"] == len(output.getvalue())


def test_what_a_rank_lacks_there_is_told_of_it(server: Server, project: Path) -> None:
    logs = ranks(project / "job")
    for name, log in zip(logs, [SHORT, b"", b"epoch 1"], strict=True):
        server.put(f"odd/{name}", log)
    result = fullgraph("trace", "s3://bucket/odd")
    assert "Rank 1 was not read: the log is empty" in result.output
    assert "Rank 2 was not read: the log is not a trace" in result.output
    assert "program.py:14:5" in result.output


def test_logs_with_the_same_problem_are_told_together(
    server: Server, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, log in ranks(project / "job").items():
        server.put(f"forbidden/{name}", log)
    system = fsspec.get_filesystem_class("s3")
    get_file = system.get_file

    def forbidden(self: Any, place: str, *args: Any, **options: Any) -> None:
        if "rank_2" not in place:
            raise PermissionError("Forbidden")
        get_file(self, place, *args, **options)

    monkeypatch.setattr(system, "get_file", forbidden)
    result = fullgraph("trace", "s3://bucket/forbidden", "--perfetto", "steps.json")
    assert "Ranks 0-1 were not read: the log cannot be read: Forbidden" in result.output
    assert "program.py:14:5" in result.output
    steps = json.loads((project / "steps.json").read_text())["traceEvents"]
    assert [item["args"]["name"] for item in steps if item["name"] == "process_name"] == ["rank 2"]


# -- places that cannot be read ----------------------------------------------------------------


def refused(url: str) -> str:
    result = fullgraph("trace", url)
    assert result.exit_code == 2
    assert result.stdout == ""
    return " ".join(result.stderr.split("Error: ")[-1].split())


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://bucket/nothing/", r"s3://bucket/nothing/ does not exist\."),
        ("s3://nobucket/job/", r"s3://nobucket/job/ does not exist\."),
        ("http://127.0.0.1:1/job/", r"http://127.0.0.1:1/job/ cannot be read: Cannot connect to host.*"),
        ("http://127.0.0.1:1/a.log", r"http://127.0.0.1:1/a.log cannot be read: Cannot connect to host.*"),
        ("s3://bucket/nothing/a.log", r"s3://bucket/nothing/a.log does not exist\."),
        ("s3://bucket/job.zip", r"s3://bucket/job.zip does not exist\."),
        ("odd://bucket/job", r"odd://bucket/job cannot be read: Protocol not known: odd\."),
        (
            "gs://bucket/job",
            r"gs://bucket/job cannot be opened: Please install gcsfs.*",
        ),
    ],
)
def test_what_is_not_there_is_told_in_a_sentence(url: str, message: str) -> None:
    assert re.fullmatch(message, refused(url))


def test_a_bucket_without_credentials_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert refused("s3://bucket/job/") == "s3://bucket/job/ cannot be read: Unable to locate credentials."


def test_a_bucket_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PATIENCE", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert refused("s3://bucket/job/") == "s3://bucket/job/ cannot be read: no answer in 1 seconds."


def without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "fsspec"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fsspec", None)


def without_s3fs(monkeypatch: pytest.MonkeyPatch) -> None:
    def url_to_fs(*_: object, **__: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr("fsspec.core.url_to_fs", url_to_fs)


@pytest.mark.parametrize("missing", [without_fsspec, without_s3fs])
def test_the_extra_is_named_where_it_is_missing(
    missing: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing(monkeypatch)
    assert refused("s3://bucket/job/").endswith("pip install 'fullgraph[remote]'")
