"""The output of programs, sent to the client or to the server's standard error."""

from __future__ import annotations

from collections.abc import Callable

from pygls.lsp.server import LanguageServer

from ..protocol.names import OUTPUT
from ..protocol.runs import OutputParams
from ..runs.program_run import to_stderr
from ..workspace.targets import Target
from .capabilities import experimental_capability


def program_output(server: LanguageServer) -> Callable[[Target, int, str], None]:
    """Return a function that passes on output: ``(target, generation, text)``."""

    def take(target: Target, generation: int, text: str) -> None:
        if experimental_capability(server, "fullgraphOutput"):
            params = OutputParams(target.id, target.label, generation, text)
            server.protocol.notify(OUTPUT, params)
        else:
            to_stderr(text)

    return take
