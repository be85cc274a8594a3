"""Lenses of targets in the text as it is, and when the client is asked to fetch them again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fullgraph_compiler.facts import Examples
from fullgraph_server.client import refresh
from fullgraph_server.client.compiled_files import CompiledFiles
from fullgraph_server.client.documents import ClientDocuments
from fullgraph_server.client.targets import NoTargetReason, TargetRegistry
from fullgraph_server.features import code_lens
from fullgraph_server.runs.slot import TargetState
from lsprotocol import types
from pygls.workspace import Workspace

ONE = "# fullgraph: half(f32[8])\ndef half(x):\n    return x / 2\n"
TWO = "# fullgraph: half(f32[4])\n" + ONE
UNFINISHED = TWO + "half(\n"


class Client:
    """Stands in for the server: keeps the handler, and shows the file with a text that may be unsaved."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "model.py"
        self.file.write_text(ONE)
        self.workspace = Workspace(folder.as_uri())
        self.client_capabilities = types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(
                code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
            )
        )
        self._version = 0
        self.handler: Any = None
        self.refreshed = asyncio.Event()

    def show(self, text: str) -> None:
        self._version += 1
        item = types.TextDocumentItem(self.file.as_uri(), types.LanguageKind.Python, self._version, text)
        self.workspace.put_text_document(item)

    def feature(self, _name: str) -> Callable[[Any], Any]:
        def keep(handler: Any) -> Any:
            self.handler = handler
            return handler

        return keep

    async def workspace_code_lens_refresh_async(self, _params: None) -> None:
        self.refreshed.set()


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


# -- targets of the text as it is ----------------------------------------------------------------


def calls(client: Client, name: str) -> int:
    target = TargetRegistry(ClientDocuments(client), CompiledFiles()).find(name)
    assert not isinstance(target, NoTargetReason), target.message
    assert isinstance(target.program, Examples)
    return sum(len(example.calls) for example in target.program.examples)


def test_example_calls_that_are_not_saved_yet_run_too(client: Client) -> None:
    names = (str(client.file), client.file.as_uri(), f"{client.file}::half")
    assert [calls(client, name) for name in names] == [1, 1, 1]
    client.show(TWO)
    assert [calls(client, name) for name in names] == [2, 2, 2]


def test_a_line_that_is_being_typed_takes_no_target_away(client: Client) -> None:
    client.show(UNFINISHED)
    assert calls(client, f"{client.file}::half") == 1, "as it was saved"


async def test_lenses_of_a_text_that_does_not_parse_tell_what_its_target_does(client: Client) -> None:
    states = {"run": "running"}
    runs = SimpleNamespace(state=lambda _: SimpleNamespace(**states), report=lambda _: None)
    documents = ClientDocuments(client)
    projections = SimpleNamespace(of=lambda _: SimpleNamespace(functions=list))
    targets = TargetRegistry(documents, CompiledFiles())
    context: Any = SimpleNamespace(
        server=client, documents=documents, targets=targets, runs=runs, projections=projections
    )
    code_lens.register(context, None)  # type: ignore[arg-type]
    params = types.CodeLensParams(types.TextDocumentIdentifier(client.file.as_uri()))

    async def titles() -> list[str]:
        return [lens.command.title for lens in await client.handler(params)]

    client.show(TWO)
    assert await titles() == ["■ Stop"]
    client.show(UNFINISHED)
    assert await titles() == ["■ Stop"]
    states["run"] = "cancelled"
    assert await titles() == ["▶ Analyze with Fullgraph"]


# -- when they are fetched again -----------------------------------------------------------------


async def test_a_run_that_begins_does_not_put_off_the_lens_of_one_that_has_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "_LONG_SECONDS", 3600.0)
    lenses = refresh.RefreshRequests(client, "code_lens")
    lenses.changed("first", TargetState("running"))
    lenses.changed("first", TargetState("cancelled"))
    lenses.changed("second", TargetState("running"))
    await asyncio.wait_for(client.refreshed.wait(), 30)


async def test_a_run_that_goes_on_gets_its_lens(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "_LONG_SECONDS", 0.01)
    lenses = refresh.RefreshRequests(client, "code_lens")
    for _ in range(2):
        client.refreshed.clear()
        lenses.changed("first", TargetState("queued"))
        await asyncio.wait_for(client.refreshed.wait(), 30)
