"""Programs that break what Fullgraph's side of their process needs: what they do is seen all the same."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from fullgraph_compiler import facts as f
from odd_files import DEEP, ODD
from worker_client import Forks, Result

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="it forks workers"),
    pytest.mark.xdist_group("test_worker_hostile"),
]

BEGIN = """
    import torch

    @torch.compile
    def f(x):
        print("woo")
        return x + 1

    f(torch.ones(3))
"""
AGAIN = """
    @torch.compile
    def g(x):
        print("woo")
        return x + 1

    g(torch.ones(3))
"""


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    with Forks(tmp_path_factory.mktemp("forks")) as forks:
        yield forks


def run(forks: Forks, folder: Path, *parts: str) -> Result:
    program = folder / "program.py"
    program.write_text("".join(textwrap.dedent(part) for part in parts))
    return forks.run(f.Script(str(program)))


def breaks(result: Result) -> list[str]:
    return [fact.stack[-1].function for fact in result.of(f.GraphBreak)]


HARMLESS = (
    "import os; os.getpid = lambda: 1",
    "import os; os.write = os.fstat = os._exit = os.dup = broken",
    "import json; json.JSONEncoder.default = broken",
    "import threading; threading.Lock = threading.RLock = broken",
    "import sys; sys.stdout = sys.stderr = None",
    "import time; time.monotonic = broken",
    "import builtins; builtins.open = broken",
    "import faulthandler; faulthandler.disable(); faulthandler.dump_traceback = broken",
    "import os; os.environ.clear()",
    "import atexit; atexit._run_exitfuncs = broken",
    "import logging; logging.disable(logging.CRITICAL)",
    "import logging; logging.shutdown()",
    "import logging.config; logging.config.dictConfig({'version': 1})",
    "import signal; signal.signal = broken",
)
"""What torch can do without."""
HARMFUL = (
    "import json; json.dumps = lambda *_, **__: '{}'",
    "import os; os.getpid = broken",
    "import json; json.dumps = json.dump = json.loads = broken",
    "import sys; sys.stdout.close(); sys.stderr.close()",
    "import builtins; builtins.print = builtins.input = broken",
    "import traceback; traceback.print_exc = traceback.format_exception = traceback.extract_tb = broken",
    "import linecache; linecache.getline = linecache.getlines = linecache.checkcache = broken",
    "import os; os.path.isfile = os.path.abspath = os.path.realpath = broken",
)
"""What breaks torch as well, or its trace."""
BROKEN = """
    def broken(*_, **__):
        raise ValueError("replaced by the program")
"""


@pytest.mark.parametrize("replaced", [*HARMLESS, *HARMFUL], ids=lambda text: text.partition("; ")[2])
def test_a_program_that_replaces_what_observing_needs_is_seen_to_its_end(
    forks: Forks, tmp_path: Path, replaced: str
) -> None:
    again = AGAIN.replace('print("woo")', "torch._dynamo.graph_break()")
    result = run(forks, tmp_path, BEGIN, BROKEN, f"{replaced}\n", again)
    (end,) = result.of(f.RunFinished)
    assert (breaks(result)[0], result.exit_code, result.answer) == ("f", 0, ""), result.output
    if replaced in HARMLESS:
        assert (breaks(result), end.status, result.of(f.TargetProblem)) == (["f", "g"], "finished", [])


@pytest.mark.parametrize(
    "closing", ["os.closerange(3, 256)", "os.closerange(0, 1024)", "for n in range(3, 64): os.dup2(2, n)"]
)
def test_a_program_that_closes_the_channel_ends_with_a_code_of_its_own_and_its_line(
    forks: Forks, tmp_path: Path, closing: str
) -> None:
    result = run(forks, tmp_path, BEGIN, "\nimport os\n", closing, "\n", AGAIN)
    assert (breaks(result), result.exit_code) == (["f"], f.CHANNEL_LOST)
    assert f'File "{tmp_path / "program.py"}", line 19' in result.crash_log


def test_a_file_that_takes_the_place_of_the_channel_gets_nothing_of_it(forks: Forks, tmp_path: Path) -> None:
    """The number of a closed descriptor is that of the next file that is opened."""
    result = run(
        forks,
        tmp_path,
        BEGIN,
        """
        import os
        os.closerange(3, 256)
        files = [open(f"checkpoint{n}", "wb", buffering=0) for n in range(60)]
        for file in files:
            file.write(b"weights")
        """,
        AGAIN,
    )
    assert result.exit_code == f.CHANNEL_LOST
    written = {path.read_bytes() for path in forks.cwd.glob("checkpoint*")}
    assert written == {b"weights"}


RAISES = """
    class Odd(Exception):
        {method}

    def deeper():
        raise {error}

    deeper()
"""


@pytest.mark.parametrize(
    ("method", "error", "name"),
    [
        ("def __str__(self): raise ValueError('no')", "Odd()", "Odd"),
        ("def __str__(self): return 7", "Odd()", "Odd"),
        ("def __str__(self): raise SystemExit(3)", "Odd()", "Odd"),
        ("def __str__(self): return str(self)", "Odd()", "Odd"),
        ("__repr__ = __str__ = None", "Odd()", "Odd"),
        ("def __str__(self): raise KeyboardInterrupt", "RuntimeError(Odd())", "RuntimeError"),
        ("def __repr__(self): raise ValueError('no')", "KeyError(Odd())", "KeyError"),
        ("__notes__ = property(lambda self: 1 / 0)", "Odd()", "Odd"),
        ("def __str__(self): raise ValueError('no')", "RuntimeError('outer') from Odd()", "RuntimeError"),
        ("def __str__(self): raise ValueError('no')", "SystemExit(Odd())", "SystemExit"),
        ("pass", "SystemExit(10 ** 5000)", "SystemExit"),
        ("pass", "SyntaxError('odd', (Odd, 'x', [], 3))", "SyntaxError"),
    ],
)
def test_an_exception_that_cannot_say_what_it_is_is_told_on_its_line(
    forks: Forks, tmp_path: Path, method: str, error: str, name: str
) -> None:
    result = run(forks, tmp_path, BEGIN, RAISES.replace("{method}", method).replace("{error}", error))
    (raised,) = result.of(f.ProgramRaised)
    assert raised.error == name
    assert [frame.row for frame in raised.stack[:2]] == [17, 15]
    assert breaks(result) == ["f"]
    assert result.of(f.RunFinished)[0].status in ("raised", "exited")
    assert result.exit_code == 0


def test_an_exception_in_compiled_code_that_cannot_say_what_it_is(forks: Forks, tmp_path: Path) -> None:
    result = run(
        forks,
        tmp_path,
        """
        import torch

        class Odd(Exception):
            def __str__(self):
                raise ValueError("no")

        @torch.compile
        def f(x):
            print("woo")
            raise Odd

        f(torch.ones(3))
        """,
    )
    (raised,) = result.of(f.ProgramRaised)
    assert (raised.error, raised.stack[-1].row) == ("Odd", 11)
    assert result.exit_code == 0


def test_an_error_of_our_own_is_told_as_such(forks: Forks, tmp_path: Path) -> None:
    result = run(
        forks,
        tmp_path,
        BEGIN,
        """
        import fullgraph_compiler.capture.run as own
        own.describe = own.RunFinished = None
        """,
    )
    assert breaks(result) == ["f"]
    assert "TypeError" in result.answer
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("a pipe", "it is not a regular file"),
        ("a link to a device", "it is not a regular file"),
        ("a folder", "it is not a regular file"),
        ("brackets", "too many nested parentheses"),
        ("a long sum", "RecursionError: "),
    ],
)
def test_a_program_that_cannot_be_read_does_not_start(
    forks: Forks, tmp_path: Path, kind: str, message: str
) -> None:
    {**ODD, **DEEP}[kind](tmp_path)
    result = forks.run(f.Script(str(tmp_path / "odd.py")))
    (problem,) = result.of(f.TargetProblem)
    assert message in problem.message
    assert [end.status for end in result.of(f.RunFinished)] == ["not-started"]
