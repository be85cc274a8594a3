"""Messages that no client should send: each request is answered, and the server goes on."""

from __future__ import annotations

import copy
import inspect
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fullgraph_server.agents.tools import TOOLS
from fullgraph_server.protocol import names
from fullgraph_server.server import create_server
from lsp_raw import RawClient, raw_client
from lsprotocol import types

MESSAGES = 2000
BATCH = 50
"""The number of messages that are sent before their answers are awaited."""
TEXT = "import torch\n\n# fullgraph: f(1)\ndef f(x):\n    return x  # fullgraph: ignore[\n"
DEEP = "[" * 300 + "]" * 300
ODD: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        7,
        2**31,
        -(2**63),
        10**30,
        0.5,
        1e308,
        "",
        "x",
        "\0",
        "\ud800",
        "\u202ex",
        "é" * 999,
    ),
    *([], [None], [[]], {}, {"": None}, {"line": -1, "character": "x"}, {"jsonrpc": "2.0", "id": 1}),
    *(
        "file:///",
        "file://x/y",
        "file:///%00",
        "untitled:Untitled-1",
        "http://[",
        "fullgraph-explanation:/x?y",
    ),
    *("/", "..", "launch:x", "trace:/nowhere", "pytest:x::y", "a.py -- '", json.loads(DEEP)),
]
BYTES = (
    b"",
    b"{",
    b"\xff\xfe",
    b"nul",
    b'{"id": 1, "jsonrpc": "2.0"',
    b"[" * 100_000,
    b'"\\ud800"',
    b"[]",
    b"17",
)


INVALID: list[tuple[dict[str, Any], int, str]] = [
    ({"method": "textDocument/hover"}, -32602, "HoverParams for params"),
    (
        {"method": "textDocument/hover", "params": {"textDocument": {"uri": 5}}},
        -32602,
        "params.text_document.uri",
    ),
    ({"method": "fullgraph/report", "params": [1]}, -32602, "params"),
    ({"method": "fullgraph/nothing"}, -32601, "fullgraph/nothing"),
    ({"method": "textDocument/didOpen", "params": {}}, -32600, "is a notification"),
    ({"method": "workspace/executeCommand", "params": {"command": "no"}}, -32602, "no"),
    (
        {"method": "workspace/executeCommand", "params": {"command": "fullgraph.run", "arguments": [1, 2]}},
        -32602,
        "takes one argument",
    ),
    ({"method": "fullgraph/devices", "jsonrpc": "1.0"}, -32600, "jsonrpc"),
    ({"method": 5}, -32600, "method"),
    (
        {"method": "fullgraph/tool", "params": {"name": "check_target", "arguments": {"target": 5}}},
        -32602,
        "must be a string",
    ),
]


class Malformed:
    """Messages made of real ones by changes at random places, the same ones for each seed."""

    def __init__(self, file: Path, seed: int) -> None:
        self._random = random.Random(seed)
        self._real = list(real_requests(file))
        self._notifications = list(real_notifications(file))

    def response(self) -> dict[str, Any]:
        """Make a response to a request of the server."""
        return self._random.choice([{"result": self._odd()}, {"error": self._odd()}, {"result": None}])

    def messages(self) -> Iterator[Any]:
        """Yield messages without end."""
        for number in range(10**9):
            kind = self._random.random()
            if kind < 0.03:
                yield self._random.choice(BYTES)
            elif kind < 0.15:
                method, params = self._random.choice(self._notifications)
                yield self._changed({"jsonrpc": "2.0", "method": method, "params": params})
            else:
                method, params = self._random.choice(self._real)
                message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                yield self._changed(message)

    def _odd(self) -> Any:
        return copy.deepcopy(self._random.choice(ODD))

    def _changed(self, message: dict[str, Any]) -> dict[str, Any]:
        changed = copy.deepcopy(message)
        for _ in range(self._random.choice((1, 1, 1, 2, 3))):
            self._change(changed)
        return changed

    def _change(self, message: dict[str, Any]) -> None:
        """Remove, replace or add a member of a random object or list; mostly in the parameters."""
        inside = [item for item in _containers(message.get("params")) if item]
        container = self._random.choice(inside) if inside and self._random.random() < 0.9 else message
        keys = list(range(len(container)) if isinstance(container, list) else container)
        key = self._random.choice(keys) if keys else None
        change = self._random.random()
        if change < 0.2 and key is not None and (container is not message or key != "method"):
            del container[key]
        elif change < 0.3 and isinstance(container, dict):
            container[self._random.choice(["", "uri", "error", "result", "params", "id"])] = self._odd()
        elif key is not None and not (container is message and key == "method" and change < 0.9):
            container[key] = self._odd()


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _containers(item)


def real_requests(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield a request that means something for each method and command of the server."""
    document = {"uri": file.as_uri()}
    place = {"line": 3, "character": 5}
    rows = {"start": place, "end": {"line": 4, "character": 1}}
    everything = {
        "textDocument": document,
        "position": place,
        "range": rows,
        "context": {
            "diagnostics": [{"range": rows, "message": "m", "data": {"target": "x"}}],
            "only": ["quickfix"],
        },
        "uri": document["uri"],
        "target": str(file),
        "generation": 1,
        "frame": 0,
        "layer": "",
        "known": [],
        "uncompiled": False,
    }
    server = create_server()
    for method in sorted(server.protocol.fm.features):
        kind = server.protocol.get_message_type(method)
        is_slow = method == names.ENVIRONMENT
        if method == names.TOOL:
            yield from ((method, tool) for tool in real_tools())
        elif (
            not is_slow
            and method not in (types.INITIALIZE, types.SHUTDOWN)
            and hasattr(kind or types.HoverRequest, "id")
        ):
            yield method, everything
    for command in sorted(server.protocol.fm.commands):
        for arguments in ([str(file)], [str(file), {"dryRun": True}], [f"{file}::f", True]):
            yield types.WORKSPACE_EXECUTE_COMMAND, {"command": command, "arguments": arguments}
    yield from ((method, everything) for method in (types.INITIALIZE, "no/method", "$/no"))


def real_tools() -> Iterator[Any]:
    """Yield a call of each tool for agents."""
    for name, function in TOOLS.items():
        given = {
            "target": "a.py",
            "finding": "1",
            "diff": "",
            "offset": 0,
            "before": "",
            "after": "",
            "kernel": "",
        }
        taken = inspect.signature(function).parameters
        yield {"name": name, "arguments": {key: value for key, value in given.items() if key in taken}}


def real_notifications(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield notifications about a file."""
    document = {"uri": file.as_uri(), "version": 2, "languageId": "python", "text": TEXT}
    place = {"line": 1, "character": 0}
    change = {"range": {"start": place, "end": place}, "text": "x"}
    cell = {"kind": 2, "document": "vscode-notebook-cell:/n.ipynb#1"}
    notebook = {"uri": "file:///n.ipynb", "notebookType": "jupyter-notebook", "version": 1, "cells": [cell]}
    cells = [{**document, "uri": cell["document"]}]
    yield types.TEXT_DOCUMENT_DID_OPEN, {"textDocument": document}
    yield types.TEXT_DOCUMENT_DID_CHANGE, {"textDocument": document, "contentChanges": [change]}
    yield types.TEXT_DOCUMENT_DID_SAVE, {"textDocument": document}
    yield types.NOTEBOOK_DOCUMENT_DID_OPEN, {"notebookDocument": notebook, "cellTextDocuments": cells}
    yield types.CANCEL_REQUEST, {"id": 1}
    yield types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"settings": {"fullgraph": {}}}
    yield types.WORKSPACE_DID_CHANGE_WATCHED_FILES, {"changes": [{"uri": file.as_uri(), "type": 2}]}
    yield types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, {"event": {"added": [], "removed": []}}
    yield types.WINDOW_WORK_DONE_PROGRESS_CANCEL, {"token": "x"}


def awaited(message: Any) -> str | None:
    """The id, as JSON, of the response that a message must get; ``None`` if it must get none."""
    if isinstance(message, bytes):
        return "null" if message else None
    if "method" not in message:
        return None
    if "id" not in message:
        return None if message.get("jsonrpc") == "2.0" or "method" in message else "null"
    number = message["id"]
    is_id = isinstance(number, (str, int)) and not isinstance(number, bool)
    return json.dumps(number if is_id else None)


@pytest.mark.parametrize("seed", [1])
async def test_each_of_2000_malformed_requests_is_answered(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "a.py"
    file.write_text(TEXT)
    malformed = Malformed(file, seed)
    messages = malformed.messages()
    codes: Counter[int] = Counter()
    async with raw_client(malformed.response) as client:
        await client.open(tmp_path, capabilities={"window": {"workDoneProgress": True}})
        for _ in range(MESSAGES // BATCH):
            batch = [next(messages) for _ in range(BATCH)]
            client.answers.clear()
            expected = Counter(filter(None, map(awaited, batch)))
            for message in batch:
                await client.send(message)
            await client.until(lambda: counted(client) >= expected)  # noqa: B023
            assert counted(client) == expected
            faults = [
                answer["error"]
                for answers in client.answers.values()
                for answer in answers
                if "error" in answer
            ]
            codes.update(fault["code"] for fault in faults)
            assert [fault for fault in faults if fault["code"] == -32603] == []
        assert codes[-32602] > codes[-32600] > 0
        assert codes[-32601] > 0
        symbols = await client.ask("fullgraph/targets", {}, "last")
        assert [item["id"] for item in symbols["result"]]
        assert await client.leave() == 0


def counted(client: RawClient) -> Counter[str]:
    """How many responses each id has got."""
    return Counter({number: len(answers) for number, answers in client.answers.items() if answers})


async def test_requests_before_and_after_the_session_are_refused(tmp_path: Path) -> None:
    hover = {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 0}}
    async with raw_client() as client:
        assert (await client.ask("textDocument/hover", hover, 1))["error"]["code"] == -32002
        assert (await client.ask("shutdown", None, 2))["error"]["code"] == -32002
        assert (await client.ask("initialize", {"capabilities": 5}, 3))["error"]["code"] == -32602
        assert "result" in await client.open(tmp_path)
        assert (await client.ask("initialize", {"capabilities": {}}, 4))["error"]["code"] == -32600
        assert (await client.ask("exit", None, 5))["error"]["code"] == -32600
        assert (await client.ask("fullgraph/devices", None, 6))["result"]
        assert (await client.ask("shutdown", None, 7))["result"] is None
        assert (await client.ask("textDocument/hover", hover, 8))["error"]["code"] == -32600
        await client.notify("exit", None)
        assert await client.process.wait() == 0


async def test_an_invalid_request_is_told_what_is_wrong(tmp_path: Path) -> None:
    async with raw_client() as client:
        await client.open(tmp_path)
        for number, (message, code, told) in enumerate(INVALID):
            await client.send({"jsonrpc": "2.0", "id": number, **message})
            await client.until(lambda: client.answers[str(number)])  # noqa: B023
            (answer,) = client.answers[str(number)]
            assert answer["error"]["code"] == code, message
            assert told in answer["error"]["message"]
        assert await client.leave() == 0


async def test_a_request_that_waits_for_the_client_is_answered(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(TEXT)
    edits = {"workspace": {"applyEdit": True}}
    save = {"command": "fullgraph.saveTarget", "arguments": [str(file)]}
    responses: list[dict[str, Any]] = [{"result": {"applied": "perhaps"}}, {"error": "no"}]
    async with raw_client(lambda: responses.pop()) as client:
        await client.open(tmp_path, capabilities=edits)
        for number in (1, 2):  # the response to the server's own request cannot be read
            assert "error" in await client.ask("workspace/executeCommand", save, number)
        for _ in range(2):  # one id for two requests: both wait
            await client.send(
                {"jsonrpc": "2.0", "id": 3, "method": "workspace/executeCommand", "params": save}
            )
        responses += [{"result": {"applied": True}}] * 2
        await client.until(lambda: len(client.answers["3"]) == 2)
        assert {answer["result"] for answer in client.answers["3"]} == {"a.py"}
        client.is_silent = True
        await client.send({"jsonrpc": "2.0", "id": 4, "method": "workspace/executeCommand", "params": save})
        await client.until(lambda: client.unanswered)
        await client.notify("$/cancelRequest", {"id": [4]})
        await client.notify("$/cancelRequest", {"id": 4})
        await client.until(lambda: client.answers["4"])
        assert client.answers["4"][0]["error"]["code"] == -32800
        assert await client.leave() == 0
