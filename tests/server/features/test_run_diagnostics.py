"""Reports as they come in, and the diagnostics that a client is given of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest
from fullgraph_server.client.documents import ClientDocuments
from fullgraph_server.client.messages import RunMessages
from fullgraph_server.features.diagnostics import DiagnosticPublisher
from fullgraph_server.features.explanation import ExplanationDocuments, explain, explanation_uri
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.runs.choice import TargetChoice
from fullgraph_server.workspace.positions import Span, StackCall
from fullgraph_server.workspace.source import SourceFile
from lsprotocol import types
from pygls import uris
from pygls.workspace import Workspace

TEXT = "import torch\nx = 1\ny = x\n"
URI = "file:///w/model.py"
FILE = uris.to_fs_path(URI)
HELPER = uris.to_fs_path("file:///w/helper.py")


class Client:
    """Stands in for the server: has one open document, and remembers what is published."""

    def __init__(self) -> None:
        publishing = types.PublishDiagnosticsClientCapabilities(
            related_information=True, tag_support=types.ClientDiagnosticsTagOptions(list(types.DiagnosticTag))
        )
        self.client_capabilities = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(publish_diagnostics=publishing)
        )
        self.workspace = Workspace("file:///w")
        self.show(1, TEXT)
        self.published: list[types.PublishDiagnosticsParams] = []
        self.publishes = asyncio.Event()

    def show(self, version: int, text: str) -> None:
        item = types.TextDocumentItem(URI, types.LanguageKind.Python, version, text)
        self.workspace.put_text_document(item)

    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None:
        self.published.append(params)
        self.publishes.set()

    def told(self) -> list[str]:
        """The messages that are shown in the file."""
        last = next((params for params in reversed(self.published) if params.uri == URI), None)
        return [item.message for item in last.diagnostics] if last else []


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def diagnostics(client: Client) -> DiagnosticPublisher:
    return DiagnosticPublisher(client, ClientDocuments(client))


def found(message: str, row: int = 2, filename: str = FILE, **changes: object) -> Finding:
    span = Span(filename, row, 1, row, 2)
    return replace(Finding("graph-break", "GB1", "warning", message, span), **changes)


def report(generation: int, *findings: Finding, target: str = FILE) -> Report:
    files = {FILE: SourceFile(FILE, TEXT), HELPER: None}
    return Report(target, generation, "2.13", "finished", findings=findings, files=files)


async def test_nothing_of_an_older_run_is_shown_once_a_newer_one_began(
    client: Client, diagnostics: DiagnosticPublisher
) -> None:
    diagnostics.reported(report(1, found("first")))
    assert client.told() == ["first"]
    diagnostics.reported(report(2, found("second")))
    diagnostics.reported(report(1, found("later")))
    assert client.told() == ["second"]
    assert len(client.published) == 2


async def test_a_message_has_the_title_the_reason_and_one_advice_on_short_lines(
    client: Client, diagnostics: DiagnosticPublisher
) -> None:
    long = f"Do {'this ' * 40}(e.g. here)."
    hints = (f"{long} And then `that`.", "Or wait.")
    explanation = "Not supported. The `f` is\nmore\n\nand more"
    diagnostics.reported(report(1, found("`f` breaks the graph", explanation=explanation, hints=hints)))
    assert client.told() == [f"`f` breaks the graph\nNot supported. The `f` is\nhelp: {long}"]


async def test_findings_follow_edits_after_a_pause(client: Client, diagnostics: DiagnosticPublisher) -> None:
    calls = (StackCall(FILE, 3, "f"), StackCall(FILE, 2, "g"))
    diagnostics.reported(report(1, found("here", stack=calls), found("there", row=3)))
    client.publishes.clear()
    for version in (2, 3, 4):
        client.show(version, "\n" * (version - 1) + TEXT)
        diagnostics.edited(FILE)
    await client.publishes.wait()
    (_, last) = client.published
    here, there = last.diagnostics
    assert (last.version, here.range.start.line, there.range.start.line) == (4, 4, 5)
    assert here.related_information[0].location.range.start.line == 5
    assert (here.severity, here.tags) == (types.DiagnosticSeverity.Warning, None)


async def test_a_finding_on_an_edited_line_is_faded_on_the_whole_of_it(
    client: Client, diagnostics: DiagnosticPublisher
) -> None:
    diagnostics.reported(report(1, found("here", count=3), found("there", row=3)))
    assert client.told() == ["here (3 times)", "there"]
    client.publishes.clear()
    client.show(2, TEXT.replace("x = 1", "  x = 100"))
    diagnostics.edited(FILE)
    await client.publishes.wait()
    here, there = client.published[-1].diagnostics
    assert (here.message, here.severity) == ("here (edited since the run)", types.DiagnosticSeverity.Hint)
    assert here.tags == [types.DiagnosticTag.Unnecessary]
    assert here.range == types.Range(types.Position(1, 2), types.Position(1, 9))
    assert (there.message, there.tags) == ("there", None)


async def test_a_client_without_tags_gets_none(client: Client, diagnostics: DiagnosticPublisher) -> None:
    client.client_capabilities = types.ClientCapabilities()
    client.show(2, TEXT.replace("x = 1", "x = 100"))
    diagnostics.reported(report(1, found("here")))
    (here,) = client.published[-1].diagnostics
    assert (here.tags, here.severity) == (None, types.DiagnosticSeverity.Hint)


async def test_another_files_findings_that_point_to_an_edited_line_follow_it(
    client: Client, diagnostics: DiagnosticPublisher
) -> None:
    calls = (StackCall(FILE, 3, "f"), StackCall(HELPER, 2, "g"))
    diagnostics.reported(report(1, found("elsewhere", filename=HELPER, stack=calls)))
    client.publishes.clear()
    client.show(2, "\n" + TEXT)
    diagnostics.edited(FILE)
    await client.publishes.wait()
    (item,) = client.published[-1].diagnostics
    assert item.related_information[0].location.uri == URI
    assert item.related_information[0].location.range.start.line == 3


async def test_what_several_targets_found_is_shown_once(
    client: Client, diagnostics: DiagnosticPublisher
) -> None:
    diagnostics.reported(report(1, found("same"), found("one", row=3), target="one"))
    diagnostics.reported(report(2, found("same"), found("two", row=3), target="two"))
    assert sorted(client.told()) == ["one [one]", "same", "two [two]"]
    diagnostics.cleared("two")
    assert sorted(client.told()) == ["one", "same"]


# -- what is of no line ------------------------------------------------------------------------


async def test_the_results_of_one_target_can_be_chosen(client: Client) -> None:
    choice = TargetChoice()
    diagnostics = DiagnosticPublisher(client, ClientDocuments(client), choice)
    diagnostics.reported(report(1, found("one"), target="one"))
    diagnostics.reported(report(2, found("two"), target="two"))
    choice.target = "one"
    diagnostics.chosen()
    assert client.told() == ["one"]
    choice.target = ""
    diagnostics.chosen()
    assert sorted(client.told()) == ["one [one]", "two [two]"]


def of_run(message: str, severity: str = "error", hints: tuple[str, ...] = ()) -> Finding:
    return found(message, 1, kind="target-error", severity=severity, hints=hints, of_run=True)


async def test_what_is_of_the_run_is_no_diagnostic(client: Client, diagnostics: DiagnosticPublisher) -> None:
    diagnostics.reported(report(1, of_run("no Python")))
    assert client.published == []
    diagnostics.reported(report(1, of_run("no Python"), found("broke")))
    assert client.told() == ["broke"]


def test_an_explanation_says_when_its_finding_is_gone(client: Client) -> None:
    documents = ClientDocuments(client)
    results: list[Report] = []
    runs = SimpleNamespace(results=lambda _: tuple(results))
    explanations = ExplanationDocuments(client)  # type: ignore[arg-type]

    def read() -> str | None:
        uri = explanation_uri(FILE, found("broke"))
        return explanations.read(uri, documents, runs, lambda *_: "")  # type: ignore[arg-type]

    gone = "**The last run no longer has this finding.**\n"
    results[:] = [report(1)]
    assert read() == gone
    results[:] = [report(2, found("broke"))]
    before = read()
    assert before is not None
    assert before.startswith("# ")
    results[:] = [report(3, found("other"))]
    assert read() == f"{gone}\nIt was:\n\n---\n\n{before}"
    results[:] = [report(4, found("broke"))]
    assert read() == before


def test_what_is_of_the_run_is_a_message_once(client: Client) -> None:
    shown: list[tuple[types.MessageType, str]] = []
    client.window_show_message = lambda params: shown.append((params.type, params.message))  # type: ignore[attr-defined]
    messages = RunMessages(client)  # type: ignore[arg-type]
    problem = of_run("no kernels for a GPU", hints=("Make an environment.", "Name it."))
    for generation in (1, 2):
        messages.reported(report(generation, problem, found("broke"), of_run("fyi", "information")))
    told = (types.MessageType.Error, "model.py: no kernels for a GPU. Make an environment.")
    assert shown == [told]
    messages.reported(replace(report(3, of_run("[x](command:y)", "warning")), status=None))
    assert shown == [told], "a run that is on is told when it is over"
    messages.reported(report(4))
    messages.reported(report(5, problem))
    assert shown == [told, told], "it was mended, and is back"
    messages.cleared(FILE)
    messages.reported(report(6, of_run("[x](command:y)", "warning")))
    assert shown[2:] == [(types.MessageType.Warning, "model.py: [x] (command:y).")]


def test_a_client_that_says_why_a_target_did_not_start_is_not_told_twice(client: Client) -> None:
    shown: list[str] = []
    client.window_show_message = lambda params: shown.append(params.message)  # type: ignore[attr-defined]
    not_started = replace(report(1, of_run("no Python")), status="not-started")
    RunMessages(client).reported(not_started)  # type: ignore[arg-type]
    assert shown == ["model.py: no Python."]
    client.client_capabilities = types.ClientCapabilities(experimental={"fullgraphStatus": True})
    for silent in (not_started, replace(not_started, status="finished", depth="kernels")):
        RunMessages(client).reported(silent)  # type: ignore[arg-type]
    assert len(shown) == 1


def test_the_explanation_of_what_is_of_the_run_names_no_line(client: Client) -> None:
    text = explain(
        report(1, of_run("no Python")), of_run("no Python"), ClientDocuments(client), lambda *_: ""
    )  # type: ignore[arg-type]
    assert text.split() == ["#", "GB1:", "no", "Python", "Error,", "torch", "2.13"]


async def test_a_mistake_in_an_example_call_is_told_without_a_run_until_it_is_mended(
    client: Client, diagnostics: DiagnosticPublisher
) -> None:
    for version, (text, told) in enumerate(
        [
            ("# fullgraph: f(\ndef f(x): ...\n", ["example call is not an expression: '(' was never closed"]),
            ("# fullgraph: f(size)\ndef f(x): ...\n", ["`size` is not defined in this file"]),
            ("size = 3\n# fullgraph: f(size)\ndef f(x): ...\n", []),
        ],
        2,
    ):
        client.show(version, text)
        client.publishes.clear()
        diagnostics.edited(FILE)
        await asyncio.wait_for(client.publishes.wait(), 30)
        assert client.told() == told


async def test_a_mistake_that_a_run_has_found_too_is_told_once(
    client: Client, diagnostics: DiagnosticPublisher
) -> None:
    text = "# fullgraph:\ndef f(x): ...\n"
    client.show(2, text)
    message = "example call is empty"
    mistake = found(message, 1, kind="target-error", severity="error")
    diagnostics.reported(replace(report(1, mistake, found("other")), files={FILE: SourceFile(FILE, text)}))
    assert client.told() == [message, "other"]


async def test_a_mistake_in_a_file_that_is_not_open_waits_for_a_run(
    client: Client, diagnostics: DiagnosticPublisher
) -> None:
    client.show(2, "# fullgraph:\ndef f(x): ...\n")
    client.workspace.remove_text_document(URI)
    diagnostics.reported(report(1, found("first")))
    assert "example call is empty" not in client.told()
