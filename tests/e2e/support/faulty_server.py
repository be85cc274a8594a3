"""The server with faults on request, which the soak starts instead of the server.

``test.calls {moment}`` answers with the functions that runs have called so far, and that may fail at this
moment. ``test.fail {name, moment}`` makes the next call of a function raise ``OSError``; without arguments,
no call fails any more. It answers whether the last requested fault has happened.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from fullgraph_server import server as server_module
from fullgraph_server.server import FullgraphServer, create_server
from injected import Fault, Injector


def create_faulty_server() -> FullgraphServer:
    """A server with the two commands."""
    server, injector = create_server(), Injector()

    @server.command("test.calls")
    async def calls(*args: Any) -> list[str]:
        (moment,) = args
        return injector.may_fail(moment, OSError)

    @server.command("test.fail")
    async def fail(*args: Any) -> bool:
        happened = injector.fault is None
        injector.fault = Fault(*args) if args else None
        return happened

    return server


if __name__ == "__main__":
    server_module.create_server = create_faulty_server
    server_module.main()
