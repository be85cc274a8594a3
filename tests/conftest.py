"""What all tests begin with, which modules are imported, and how tests are spread over processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

pytest_plugins = ["stored_runs"]
os.environ["FULLGRAPH_WARM"] = "0"  # else a command would find what another test has left
# `nohup make test` ignores one of these, and `make test &` the other, and so would all commands.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # pytest-xdist looks at the groups next
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests of a module that share a server or the workers of proofs, so that these start once."""
    for item in items:
        mark = item.get_closest_marker("asyncio")
        shares_server = mark is not None and mark.kwargs.get("loop_scope") == "module"
        if shares_server or "proving" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m portable``, import only modules that have such tests: others need torch, or Linux."""
    if config.getoption("markexpr") != "portable" or collection_path.suffix != ".py":
        return None
    return True if "pytest.mark.portable" not in collection_path.read_text("utf-8") else None
