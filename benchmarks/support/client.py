"""An editor for the benchmarks: that of the end-to-end tests, with one program.

The program is open in its own folder.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from .measure import HERE

sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "tests" / "e2e" / "support")]

import processes  # noqa: E402
from lsp_session import CONFIG, Editor  # noqa: E402
from lsprotocol import types  # noqa: E402

_BREAKS = re.compile(r"\s+(?:print\(|if b\.sum\()")
"""What breaks graphs in the programs of the benchmarks."""


class Session:
    """A server, and an editor that shows one file."""

    def __init__(self, editor: Editor, file: Path) -> None:
        self.editor = editor
        self.uri = editor.open(file)
        self.text = file.read_text("utf-8")
        self.file = file

    def alive(self, name: str) -> int:
        """How many processes of this name are alive below the server."""
        below = [pid for pid in processes.descendants(self.editor._server.pid) if processes.name(pid) == name]
        return sum(not processes.is_zombie(pid) for pid in below)

    async def run(self) -> Any:
        """Run the program by command; returns the answer."""
        return await self.editor.command("fullgraph.run", self.uri)

    def edit(self, text: str) -> int:
        """Change the text in the editor; returns its version."""
        self.text = text
        return self.editor.edit(self.uri, text)

    def save(self) -> None:
        """Write the text to disk and tell so."""
        self.file.write_text(self.text, "utf-8")
        self.editor.save(self.uri)

    @property
    def shown(self) -> list[types.Diagnostic]:
        """What the editor shows at the file."""
        last = self.editor.shown(self.uri)
        return list(last.diagnostics) if last else []

    @property
    def newest(self) -> int:
        """The newest run of which the editor shows something."""
        return max((item.data["generation"] for item in self.shown), default=0)

    def is_right(self) -> bool:
        """Whether the editor shows exactly the graph breaks of the text, at their rows.

        A break that is shown as edited since then does not count.
        """
        wanted = [row for row, line in enumerate(self.text.splitlines()) if _BREAKS.match(line)]
        found = [item for item in self.shown if str(item.code).startswith("GB")]
        rows = sorted(item.range.start.line for item in found)
        return rows == wanted and not any(item.severity == types.DiagnosticSeverity.Hint for item in found)

    async def at_rest(self) -> None:
        """Wait until the newest run is over."""
        await self.editor.until(lambda: getattr(self.editor.statuses[-1], "state", "") == "finished")


@contextlib.asynccontextmanager
async def session(text: str, **settings: Any) -> AsyncIterator[Session]:
    """Start a server on a folder with one program, and open that."""
    editor = Editor()
    # The editor passes the server's log on, which is of no interest here.
    with _written(text) as file, contextlib.redirect_stderr(io.TextIOWrapper(io.BytesIO())):
        await editor.start_io(*CONFIG.server_command)
        try:
            editor.set_configuration({"fullgraph": settings})
            await editor.open_folder(file.parent)
            yield Session(editor, file)
        finally:
            await editor.shutdown_session()
            await editor.stop()


@contextlib.contextmanager
def _written(text: str) -> Iterator[Path]:
    """A program in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program.py")
        file.write_text(text, "utf-8")
        yield file


async def timed(answer: Awaitable[Any]) -> float:
    """The seconds until a request is answered."""
    started = perf_counter()
    await answer
    return perf_counter() - started
