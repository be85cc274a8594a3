"""The server over real stdio: traces that were made elsewhere, on the files of the open folder."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import pytest_lsp
from lsp_session import CONFIG, Editor, uri_of
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRACES = Path(__file__).parents[1] / "compiler" / "traces"
PROGRAM = (TRACES / "program.py").read_text()
LOG = gzip.decompress((TRACES / "torch-2.13.log.gz").read_bytes())


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: Editor, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[None]:
    folder = tmp_path_factory.mktemp("traces")
    (folder / "job.log").write_bytes(LOG)
    await lsp_client.open_program(folder / "program.py", PROGRAM)
    yield
    await lsp_client.shutdown_session()


def shown(editor: Editor) -> list[tuple[str, int]]:
    """Codes and rows of the diagnostics that are shown now."""
    newest = [item for item in editor.published if item.uri == editor.uri][-1]
    return sorted((str(item.code), item.range.start.line + 1) for item in newest.diagnostics)


async def test_findings_stand_on_the_local_source(editor: Editor) -> None:
    told = await editor.command("fullgraph.readTrace", str(editor.file.parent / "job.log"))
    assert told["status"] == "finished"
    assert told["target"].startswith("trace:")
    print(shown(editor))
