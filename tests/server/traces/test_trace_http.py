"""Traces over HTTP: no secret of a URL leaves the process; no server keeps it waiting or fills the disk."""

from __future__ import annotations

import gzip
import io
import itertools
import logging
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import pytest
from faked_run import fullgraph
from fullgraph_server.client.findings import names_of
from fullgraph_server.commands import bug_report
from fullgraph_server.text.urls import LogFormatter, Url, urls_in, without_secrets
from fullgraph_server.traces import remote, spread
from fullgraph_server.workspace.targets import with_arguments
from processes import marked, outliving
from traces import LOG, SHORT, project_of

USER, QUERY = "us3r:p%40ssw0rd@", "?X-Amz-Signature=s1gn%2Fature&X-Amz-Credential=cr3d3ntial#fr4gment"
SECRETS = ("us3r", "p%40ssw0rd", "p@ssw0rd", "ssw0rd", "s1gn", "cr3d3ntial", "fr4gment", "X-Amz", "dXMzcj")
Body = Callable[[BaseHTTPRequestHandler], None]


class Server(ThreadingHTTPServer):
    """A server whose paths have bytes, or a function that answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: dict[str, bytes | Body] = {}
        self.begun, self.released = threading.Event(), threading.Event()
        """Set once a body was begun; to be set when one that waits may go on."""

    def url(self, path: str, user: str = "", query: str = "") -> str:
        return f"http://{user}127.0.0.1:{self.server_port}/{path}{query}"

    def handle_error(self, *_: object) -> None:
        """Say nothing: clients go away."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        body = self.server.bodies.get(self.path.partition("?")[0], b"")
        if callable(body):
            body(self)
            return
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def begin(self, data: bytes) -> None:
        """Begin a body without an end."""
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.command == "GET":
            self.wfile.write(data)
            self.server.begun.set()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    own = Server()
    threading.Thread(target=own.serve_forever, daemon=True).start()
    yield own
    own.released.set()
    own.shutdown()
    own.server_close()


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The system's folder for temporary files, in which nothing may stay."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert not list(folder.iterdir())


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project_of(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


def found_secrets(*texts: str) -> list[str]:
    return [secret for secret in SECRETS for text in texts if secret.lower() in text.lower()]


# -- secrets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["text", "json", "sarif", "github"])
def test_no_output_of_a_trace_has_secrets_of_its_url(
    output: str, server: Server, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    server.bodies["/job/a.log"] = LOG + b"V0505 is damaged\n"
    url = server.url("job/a.log", USER, QUERY)
    result = fullgraph("trace", url, "--format", output, "-o", "out", "--perfetto", "steps.json")
    assert result.exit_code == 1, result.output
    written = [file.read_text() for file in project.rglob("*") if file.is_file()]
    assert "made of a.log\n" in (project / "out/documents/index.md").read_text()
    assert len(written) > 10
    assert not found_secrets(result.stdout, result.stderr, caplog.text, *written)
    compared = fullgraph("trace", "diff", url, url, "--format", "json" if output == "json" else "text")
    examples = fullgraph("trace", "examples", url)
    assert not found_secrets(compared.output, examples.output)


def test_a_page_has_no_query_of_a_file_that_was_saved_with_it(project: Path) -> None:
    """As ``wget`` names files."""
    (project / "a.log?X-Amz-Signature=s1gn").write_bytes(LOG + b"V0505 is damaged\n")
    result = fullgraph("trace", "a.log?X-Amz-Signature=s1gn", "-o", "out")
    assert result.exit_code == 1, result.output
    assert not found_secrets(*(file.read_text() for file in Path("out").rglob("*") if file.is_file()))


def refuse(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(403)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def redirect(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    port = handler.server.server_address[1]
    handler.send_header("Location", f"http://{USER}127.0.0.1:{port}/forbidden.log{QUERY}")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    if handler.command == "GET":
        handler.wfile.write(b"V0505 ")
        handler.close_connection = True


@pytest.mark.parametrize(
    ("before", "path", "why"),
    [
        ("", "forbidden.log", "cannot be read: 403, message='Forbidden'"),
        ("", "moved.log", "cannot be read: 403, message='Forbidden'"),
        ("", "cut.log", "cannot be read: Response payload is not completed"),
        ("", "none.log", "cannot be read: 404, message='Not Found'"),
        ("", "text.log", "cannot be read: the log is not a trace"),
        ("", "none.tar.gz", "cannot be read: 404, message='Not Found'"),
        ("", "text.tar.gz", "cannot be read: The archive is damaged"),
        ("", "text.zip", "cannot be read: The archive is damaged"),
        ("zip://a.log::", "text.zip", "cannot be read: Seek before start of file"),
        ("odd://x::", "a.log", "cannot be read: Protocol not known: odd"),
    ],
)
def test_no_error_has_secrets_of_a_url(before: str, path: str, why: str, server: Server) -> None:
    server.bodies |= {"/forbidden.log": refuse, "/moved.log": redirect, "/cut.log": cut_off}
    server.bodies |= {f"/text.{kind}": b"only text" for kind in ("log", "tar.gz", "zip")}
    result = fullgraph("trace", before + server.url(path, USER, QUERY))
    assert result.exit_code == 2
    message = " ".join(result.stderr.split("Error: ", 1)[1].split())
    assert message.startswith(f"{before}{server.url(path)} {why}"), message
    assert not found_secrets(result.output)


@pytest.mark.parametrize(
    "words",
    [
        ["trace", "http://us3r:p@ssw0rd@127.0.0.1:1/job/?X-Amz-Signature=s1gn"],
        ["trace", "https://us3r:p%40ssw0rd@127.0.0.1:1/a.log", "https://us3r:more ssw0rd@host/b.log?s1gn=1"],
        ["trace", "diff", "http://us3r:ssw0rd@127.0.0.1:1/a.log", "b.log"],
        ["check", "https://us3r:ssw0rd@host/train.py?X-Amz-Signature=s1gn"],
        ["https://us3r:ssw0rd@host/train.py?X-Amz-Signature=s1gn"],
        ["trace", "job", "--rank=https://us3r:ssw0rd@host"],
    ],
)
def test_no_error_of_the_command_line_has_secrets_of_a_url(words: list[str]) -> None:
    result = fullgraph(*words)
    assert result.exit_code == 2
    assert not found_secrets(result.output)


def test_archives_and_files_in_archives_are_found_at_presigned_urls(server: Server, project: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.log", SHORT)
    (project / "a.log").write_bytes(SHORT)
    server.bodies |= {"/job.zip": packed.getvalue(), "/a.log.gz": gzip.compress(SHORT)}
    here = fullgraph("trace", "a.log").output
    assert fullgraph("trace", server.url("job.zip", USER, QUERY)).output == here
    assert fullgraph("trace", server.url("a.log.gz", USER, QUERY)).output == here
    fsspec.filesystem("memory").pipe_file("/job.zip", packed.getvalue())
    for inside in ("a.log", ""):
        assert fullgraph("trace", f"zip://{inside}::memory://job.zip").output == here


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://us3r:ssw0rd@host:80/a.log?s1gn#fr4gment", "https://host:80/a.log"),
        ("https://ssw0rd@host/job@2/", "https://host/job@2/"),
        ("https://us3r:ss/w0rd?#@host/a.log", "https://host/a.log"),
        ("https://us3r:p ssw0rd@host/a.log", "https://host/a.log"),
        ("zip://a.log::https://us3r:ssw0rd@host/job.zip?s1gn=a::b", "zip://a.log::https://host/job.zip"),
        ("simplecache::s3://us3r:ssw0rd@bucket/key?versionId=s1gn", "simplecache::s3://bucket/key"),
        ("s3://arn:aws:s3:us-west-2:1:accesspoint/point/key", None),
        ("http://[::1]:80/a.log", None),
        ("tcp://10.0.0.1:8786", None),
        ("10.0.0.1:8786", None),
    ],
)
def test_a_url_prints_without_secrets(url: str, shown: str | None) -> None:
    assert str(Url(url)) == (shown or url)
    assert not found_secrets(repr(Url(url)), str(urls_in([f"--scheduler={url}"])))
    assert pickle.loads(pickle.dumps(Url(url))).address == url, "who opens it needs all of it"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("url='https://us3r:ssw0rd@host/a?s1gn=1'", "url='https://host/a'"),
        ("(https://host/a?s1gn=1), s3://b/k?s1gn.", "(https://host/a), s3://b/k."),
        ("with url: /b/key?X-Amz-Signature=s1gn (Caused by", "with url: /b/key (Caused by"),
        ("at https%3A%2F%2Fus3r%3Assw0rd%40host%2Fa%3Fs1gn%3D1", "at https%3A%2F%2Fhost%2Fa"),
        ("/work/https:/us3r:ssw0rd@host/a?s1gn=1 is missing", "/work/https:/host/a is missing"),
        ("see https://pytorch.org/docs/compile.html", None),
        ("model.py:/x, C:/Users/a@b, what?", None),
    ],
)
def test_a_text_keeps_all_but_the_secrets_of_its_urls(text: str, expected: str | None) -> None:
    assert without_secrets(text) == (expected or text)


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, "ab:/" * 50_000, "ab://:" * 30_000, f"ab://{')' * 100_000}x", "ab://" + "[:" * 50_000],
    ids=["letters", "slashes", "colons", "marks", "brackets"],
)
def test_a_text_is_looked_through_in_linear_time(text: str) -> None:
    """A text that takes quadratic time does not come to its end before the test's own limit."""
    assert without_secrets(text)
    assert len(urls_in([text])) <= 1


def test_known_secrets_are_left_out_in_any_form() -> None:
    url = Url("https://us3r:p%40ssw0rd@host/a?X-Amz-Signature=s1gn%2Fature&a=1#fr4gment")
    said = "us3r p@ssw0rd s1gn/ature S1GN%2fATURE s1gn%252Fature dXMzcjpwQHNzdzByZA== fr4gment 127.0.0.1"
    assert without_secrets(said, [url]) == "… … … … … … … 127.0.0.1"


def test_no_name_of_a_target_has_secrets_of_its_arguments() -> None:
    args = ("--data", "https://us3r:ssw0rd@host/job/?s1gn=1", "--steps=2")
    target = with_arguments("/work/train.py", Path("/work"), args)
    assert target.label == "train.py --data 'https://host/job/' --steps=2"
    assert names_of([target.id]) == "train.py -- --data 'https://host/job/' --steps=2"


def test_no_bug_report_has_secrets_of_urls() -> None:
    failure = bug_report._FailureReport("It fails.", "", "pip install https://us3r:ssw0rd@host/a.whl", "")
    text = bug_report._text(failure, "torch @ git+https://us3r:ssw0rd@host/torch?s1gn")
    assert "pip install https://host/a.whl" in text
    assert "torch @ git+https://host/torch" in text
    assert not found_secrets(text)


def test_no_address_of_a_cluster_has_secrets(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "_PATIENCE", 0.5)
    for rank in range(2):
        (project / "job" / f"rank_{rank}.log").write_bytes(SHORT)
    result = fullgraph("trace", "job", "--scheduler", "tcp://us3r:ssw0rd@127.0.0.1:1")
    assert "No Dask scheduler answers at tcp://127.0.0.1:1" in " ".join(result.stderr.split())
    assert not found_secrets(result.output)


def test_a_log_record_has_no_secrets_in_its_traceback() -> None:
    try:
        raise ValueError("https://us3r:ssw0rd@host/a?X-Amz-Signature=s1gn")
    except ValueError:
        record = logging.LogRecord("a", 40, "a", 1, "%s failed", ("s3://us3r@b/k",), sys.exc_info())
    text = LogFormatter().format(record)
    assert "s3://b/k failed" in text
    assert "ValueError: https://host/a" in text
    assert not found_secrets(text)


# -- limits ------------------------------------------------------------------------------------


def hanging(handler: Any) -> None:
    handler.begin(SHORT[:100])
    handler.server.released.wait()


def dripping(handler: Any) -> None:
    handler.begin(b"")
    while handler.command == "GET" and not handler.server.released.wait(0.01):
        handler.wfile.write(b"V")
        handler.wfile.flush()


def endless(handler: Any) -> None:
    handler.begin(b"")
    while handler.command == "GET" and not handler.server.released.is_set():
        handler.wfile.write(bytes(1 << 16))


def silent(handler: Any) -> None:
    handler.server.released.wait()


@pytest.mark.parametrize("path", ["a.log", "job.tar.gz"])
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (silent, "cannot be read: no answer in 0.5 seconds."),
        (hanging, "cannot be read: only "),
        (dripping, "cannot be read: only "),
        (endless, "cannot be read: it has more than 4 MB, or does not end."),
    ],
)
def test_a_server_that_hangs_drips_or_never_ends_is_given_up(
    body: Body, why: str, path: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_PATIENCE", 0.5)
    monkeypatch.setattr(remote, "_MOST", 4 << 20)
    monkeypatch.setattr(remote, "_LEAST", 1 << 20 if body is dripping else 1000)
    server.bodies[f"/{path}"] = body
    result = fullgraph("trace", server.url(path))
    assert result.exit_code == 2
    assert f"{server.url(path)} {why}" in " ".join(result.stderr.split()), result.stderr


def test_a_slow_server_is_waited_for_while_enough_comes(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part comes once the reader has looked and found that enough of the one before has come."""
    looked = threading.Semaphore(0)
    check = remote._LocalCopy.check

    def seen(copy: remote._LocalCopy) -> int:
        number = check(copy)
        looked.release()
        return number

    def slow(handler: Any) -> None:
        handler.begin(b"")
        for start in range(0, len(SHORT), 1 << 16) if handler.command == "GET" else ():
            handler.wfile.write(SHORT[start : start + (1 << 16)])
            looked.acquire(timeout=0.3)

    monkeypatch.setattr(remote, "_PATIENCE", 0.2)
    monkeypatch.setattr(remote, "_LEAST", 1)
    monkeypatch.setattr(remote._LocalCopy, "check", seen)
    server.bodies["/a.log"] = slow
    assert "program.py:14:5" in fullgraph("trace", server.url("a.log")).output


def test_a_server_that_is_silent_for_some_logs_is_asked_for_no_other(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_PATIENCE", 0.5)
    names = [f"rank_{rank}.log" for rank in range(9)]
    server.bodies["/job/"] = "".join(f'<a href="{name}">{name}</a>' for name in names).encode()
    server.bodies |= {f"/job/{name}": SHORT if name == names[0] else hanging for name in names}
    result = fullgraph("trace", server.url("job/", USER))
    assert "Ranks 1-3 were not read: the log cannot be read: only " in result.output
    assert "Ranks 4-8 were not read: the server did not answer for others" in result.output
    assert "program.py:14:5" in result.output
    assert fullgraph("trace", server.url("job/"), "--perfetto", "steps.json").exit_code == 2


def test_a_list_that_never_ends_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PATIENCE", 0.5)
    server.bodies["/job/"] = endless
    result = fullgraph("trace", server.url("job/"))
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr


CLI = """\
import sys
from fullgraph_server.traces import spread
from fullgraph_server.cli import main
spread._WORTH_PROCESSES, spread.os.cpu_count = 0, lambda: 2
main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("place", ["a.log", "job/"])
def test_copies_are_deleted_when_a_signal_ends_the_command(
    number: signal.Signals, place: str, server: Server, temporary: Path
) -> None:
    """With a job, its logs are read by processes of a pool, which end as well."""
    names = [f"dedicated_log_torch_trace_rank_{rank}_a.log" for rank in range(2)]
    server.bodies["/job/"] = "".join(f'<a href="{name}">{name}</a>' for name in names).encode()
    server.bodies |= {"/a.log": hanging, **{f"/job/{name}": hanging for name in names}}
    mark = f"FULLGRAPH_TEST={temporary}"
    name, _, value = mark.partition("=")
    command = [sys.executable, "-c", CLI, "trace", server.url(place, USER)]
    with subprocess.Popen(
        command, env={**os.environ, name: value}, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr
        assert server.begun.wait(60)
        assert list(temporary.iterdir())
        running = marked(mark)
        assert len(running) > 1 or place == "a.log"
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        assert process.wait(60) == 128 + number
        assert outliving(running) == []
        assert process.stderr.read() == ""
    assert not list(temporary.iterdir())


def test_a_process_of_the_pool_that_is_killed_leaves_no_copy(server: Server, temporary: Path) -> None:
    """What it was reading is read again, and is told of its rank if that fails, too."""
    names = [f"dedicated_log_torch_trace_rank_{rank}_a.log" for rank in range(2)]
    server.bodies["/job/"] = "".join(f'<a href="{name}">{name}</a>' for name in names).encode()
    calls = itertools.count()

    def first_hangs(handler: Any) -> None:
        if next(calls):
            handler.server.bodies[handler.path] = SHORT
            _Handler.do_GET(handler)
        else:
            hanging(handler)

    server.bodies |= {f"/job/{names[0]}": first_hangs, f"/job/{names[1]}": SHORT}
    mark = f"FULLGRAPH_TEST={temporary}"
    name, _, value = mark.partition("=")
    command = [sys.executable, "-c", CLI, "trace", server.url("job/", USER)]
    with subprocess.Popen(
        command, env={**os.environ, name: value}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert server.begun.wait(60)
        for pid in marked(mark):
            if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        output = process.stdout.read()
        assert process.wait(60) == 1
    assert "on 2 ranks" in output
    assert not list(temporary.iterdir())
