"""No text out of a program or a log is Markdown: whatever it says, it is shown and does nothing."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    GraphBreak,
    GuardFailure,
    GuardInstalled,
    Recompile,
    RunFinished,
    StackFrame,
)
from fullgraph_server.client.documents import ClientDocuments
from fullgraph_server.client.findings import newest_first
from fullgraph_server.client.projection import FileView, project
from fullgraph_server.commands.at_line import LineView
from fullgraph_server.commands.graph_lines import shown_lines
from fullgraph_server.commands.traces import read_comparison
from fullgraph_server.compare.comparison import compare
from fullgraph_server.compare.comparison_texts import markdown
from fullgraph_server.features.artifacts import ArtifactDocuments
from fullgraph_server.features.explanation import explain, explanation_link
from fullgraph_server.features.guard_text import GuardLinks
from fullgraph_server.features.hover import describe, source_text
from fullgraph_server.features.kernels import CodeMap
from fullgraph_server.features.profile import profile_uri, read_profile
from fullgraph_server.protocol.names import COMPARISON_SCHEME, SHOW_EXPLANATION
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Report
from fullgraph_server.text import advice
from fullgraph_server.text.markdown import (
    code_span,
    escaped,
    fenced,
    filled,
    link,
    paragraphs,
    table,
    torch_page,
)
from fullgraph_server.text.visible import visible
from fullgraph_server.workspace.drift import TextDrift
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace
from hostile import MARKDOWN, facts
from lsprotocol import types
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygls.workspace import Workspace as ClientWorkspace

pytestmark = pytest.mark.portable

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# The parser lets no link to a command or file through, an editor does: what it is made of is what counts.
PARSER.validateLink = lambda _url: True  # type: ignore[method-assign]
OWN = re.compile(
    rf"file:///w/|command:{re.escape(SHOW_EXPLANATION)}\?%5B%22fullgraph-explanation%3A|https://pytorch\.org/"
)
MARKS = (
    "``",
    "`",
    "```",
    "[x](command:y)",
    "![i](https://e)",
    "<b>",
    "\\",
    "|",
    "_",
    "*",
    "#",
    "-",
    "+",
    "=",
)
ALPHABET = (*MARKS, "1.", "~", "&", "&lt;", ">", "\n", "\n\n", "\r", "\t", "]", ")", "(", "[", ":", "a", " ")


class Client:
    """Stands in for the server: shows no document, and has every command."""

    def __init__(self) -> None:
        self.client_capabilities = types.ClientCapabilities(
            experimental={"commands": {"commands": [SHOW_EXPLANATION]}}
        )
        self.workspace = ClientWorkspace("file:///w", position_encoding=types.PositionEncodingKind.Utf16)


class LaunchNotes:
    """Stands in for the runs: has these reports."""

    def __init__(self, *reports: Report) -> None:
        self._reports = {report.target: report for report in reports}

    def report(self, name: str, _: str = "") -> Report | None:
        return self._reports.get(name)

    def reports(self) -> list[Report]:
        return list(self._reports.values())


def tokens(text: str) -> Iterator[Token]:
    for token in PARSER.parse(text):
        yield token
        yield from token.children or ()


def live(text: str) -> list[str]:
    """What an editor would follow, load or show as something else than text."""
    found = [
        str(token.attrGet("href"))
        for token in tokens(text)
        if token.type == "link_open" and not OWN.match(str(token.attrGet("href")))
    ]
    types_ = {"image", "html_inline", "html_block", "blockquote_open", "code_block"}
    found += [token.content or token.type for token in tokens(text) if token.type in types_]
    parsed = list(PARSER.parse(text))
    headings = [inline for opened, inline in itertools.pairwise(parsed) if opened.type == "heading_open"]
    return found + [heading.content for heading in headings if heading.content.startswith("INJECTED")]


def hostile_report(text: str, generation: int = 1, target: str = "") -> Report:
    filename = f"/w/to{text}/y{text}.py".replace("\ud800", "")  # which no path can have
    line = " ".join(text.split())
    source = SourceFile(filename, f"import torch\n# {line}\nx = ab({line!r}); y = x\nz = '{line}'\n")
    workspace = Workspace(Path("/w"), {filename: source}.get)
    first, second = f"0/0{text}", f"0/1{text}"
    told = [fact for fact in facts(text, filename, first, second) if not isinstance(fact, RunFinished)]
    for number, (changed, kind) in enumerate(_causes()):
        failure = GuardFailure(first, f"L['x{text}']", kind, text, text, text, 0, (), changed)
        told.append(Recompile(f"{number + 1}/1", (failure,)))
    place = StackFrame(filename, 4, text)
    told += [replace(fact, stack=(place,)) for fact in told if isinstance(fact, GraphBreak)]
    told += [replace(fact, source="L['ab']") for fact in told if isinstance(fact, GuardInstalled)]
    told += [replace(fact, source=f"L['ab'].x{text}") for fact in told if isinstance(fact, GuardInstalled)]
    told.append(RunFinished("finished", 1.0))
    return fold(target or filename, generation, text, told, workspace, filename, "recompiles")


def _causes() -> list[tuple[str, str]]:
    """All that a recompilation can be due to."""
    changes = [(changed, "TENSOR_MATCH") for changed in advice._BY_CHANGE]
    return changes + [("", kind) for kind in [*advice._BY_KIND, *advice._WITHOUT_NAME]]


def written(report: Report, other: Report) -> Iterator[tuple[str, str]]:
    """All Markdown that the server makes of a report, with what it is."""
    client = Client()
    documents = ClientDocuments(client)  # type: ignore[arg-type]
    links = GuardLinks(lambda uri: explanation_link(client, uri), documents.line_uri)  # type: ignore[arg-type]
    filename = report.findings[0].span.filename
    source = report.files[filename]
    assert source is not None
    view = FileView(
        filename, [project(report, filename)], lambda seen, name: TextDrift(seen.files.get(name), source)
    )
    for row, line in enumerate(source.lines, 1):
        for word in re.finditer(r"\w+", line):
            if (found := describe(view, line, row, word.start() + 1, links)) is not None:
                yield f"hover {row}:{word.start() + 1}", found[0]
        for section in LineView(view, row, line, None, (), documents.location).item().sections:
            for entry in section.entries:
                yield f"line {section.kind}", entry.details
    for finding in report.findings:
        yield f"explanation of {finding.kind}", explain(report, finding, documents, lambda *_: "")
    runs = LaunchNotes(report, other)
    yield "profile", read_profile(profile_uri(report), documents, runs) or ""  # type: ignore[arg-type]
    for before, after in ((report, other), (other, report)):
        yield "comparison", markdown(compare(before, after, Path("/w"), Path("/w")))
    traces = LaunchNotes(replace(report, target="trace:/w/a"), replace(other, target="trace:/w/b"))
    query = '[["trace:/w/a", 1], ["trace:/w/b", 1]]'
    yield "traces", read_comparison(f"{COMPARISON_SCHEME}:/x?{query}", documents, traces) or ""  # type: ignore[arg-type]
    for item in shown_lines(filename, newest_first([report]), documents.drift):
        yield "graphs", item.label
        yield "eager", item.reason
    artifacts = ArtifactDocuments()
    kernels = CodeMap(documents, runs, artifacts)  # type: ignore[arg-type]
    for shown in artifacts.of_report(report):
        for row in range(1, shown.document.text.count("\n") + 2):
            yield "kernel", source_text(documents, kernels, shown.uri, row)


@pytest.mark.parametrize("text", MARKDOWN, ids=range(len(MARKDOWN)))
def test_nothing_of_a_hostile_report_is_live_in_markdown(text: str) -> None:
    benign = hostile_report("toy", 2)
    texts = list(written(hostile_report(text), benign))
    # What is looked at is there at all.
    assert {what.split()[0] for what, found in texts if found} >= {
        "hover",
        "line",
        "explanation",
        "profile",
        "comparison",
        "traces",
        "graphs",
        "eager",
        "kernel",
    }
    assert [(what, found) for what, found in ((what, live(text)) for what, text in texts) if found] == []


def test_every_kind_of_finding_is_among_them() -> None:
    report = hostile_report("toy")
    kinds = {finding.kind for finding in report.findings}
    assert kinds >= {
        "graph-break",
        "recompile",
        "compile-error",
        "target-error",
        "recompile-limit",
        "perf-hint",
    }
    assert report.frames
    assert report.frames[0].guards
    assert report.codes
    assert report.sizes


def test_our_own_links_live() -> None:
    texts = "\n\n".join(text for _, text in written(hostile_report("toy"), hostile_report("toy", 2)))
    links = [str(token.attrGet("href")) for token in tokens(texts) if token.type == "link_open"]
    assert {OWN.match(href)[0][:8] for href in links} == {"file:///", "command:"}  # type: ignore[index]


# -- the functions ------------------------------------------------------------------------------


def texts() -> Iterator[str]:
    rng = random.Random(0)
    yield from MARKDOWN
    for _ in range(1_000):
        yield "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(1, 14)))


def shown(text: str) -> str:
    """What a reader sees of Markdown: the text of its tokens."""
    kinds = ("text", "code_inline", "softbreak")
    return "".join(
        "\n" if item.type == "softbreak" else item.content for item in tokens(text) if item.type in kinds
    )


def one_line(text: str) -> str:
    return visible(re.sub(r"\r\n|[\r\n]", " ", text))


def test_a_code_span_is_one_whatever_is_in_it() -> None:
    for text in texts():
        (_, inline, _) = PARSER.parse(f"a {code_span(text)} b")
        before, code, after = inline.children or ()
        assert (before.content, code.type, after.content) == ("a ", "code_inline", " b")
        assert code.content == one_line(text)


def test_a_sentence_is_shown_as_it_is() -> None:
    for text in texts():
        if "`" not in text:
            assert shown(f"- {escaped(text)}").split() == one_line(text).split()
        for written in (escaped(text), f"- {escaped(text)}", f"# x {escaped(text)}", paragraphs(text)):
            assert live(written) == [], (text, written)


def test_a_block_of_code_ends_where_it_should() -> None:
    for text in texts():
        (block, after, inline, _) = PARSER.parse(f"{fenced('python', text)}\n\nafter")
        assert (block.type, block.info, inline.content) == ("fence", "python", "after")
        assert after.type == "paragraph_open"


def test_a_link_leads_where_it_should() -> None:
    for text in texts():
        uri = f"file:///w/{text}"
        opened, *label, closed = PARSER.parseInline(link(text, uri))[0].children or ()
        assert (opened.type, closed.type) == ("link_open", "link_close")
        assert {item.type for item in label} <= {"text", "text_special"}


def test_a_cell_ends_where_it_should() -> None:
    for text in texts():
        row = (escaped(text), code_span(text), "last")
        parsed = PARSER.parse(table([("a", "b", "c"), row], "<<>"))
        cells = [inline for opened, inline in itertools.pairwise(parsed) if opened.type == "td_open"]
        assert cells[2].content == "last", text
        assert live(table([("a", "b", "c"), row], "<<>")) == []


def test_an_address_in_a_sentence_is_no_link() -> None:
    text = "see https://evil.org, www.evil.org, //evil.org, or write to me@evil.org"
    assert escaped(text) == "see https:/\\/evil.org, www\\.evil.org, /\\/evil.org, or write to me\\@evil.org"
    assert shown(escaped(text)) == text


def test_a_template_is_filled_in_with_code() -> None:
    assert filled("Call `{name}.detach()` now, {name}.", name="x") == "Call `x.detach()` now, x."
    assert filled("Call `{name}()`.", name="a`b{c}") == "Call ``a`b{c}()``."


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html", True),
        ("https://docs.pytorch.org/docs/main/generated/exportdb/index.html#dynamic-shape", True),
        ("https://pytorch.org/docs/x.html", True),
        ("http://pytorch.org/docs/x.html", False),
        ("https://pytorch.org.evil/gb0059.html", False),
        ("https://evil/pytorch.org/gb0059.html", False),
        ("https://evilpytorch.org/gb0059.html", False),
        ("https://user@pytorch.org/gb0059.html", False),
        ("https://pytorch.org/gb0059.html)[x](command:y", False),
        ("https://pytorch.org/gb0059.html\n", False),
        ("command:workbench.action.quit//pytorch.org/gb0059.html", False),
        ("", False),
    ],
)
def test_only_a_page_of_torch_is_linked(url: str, known: bool) -> None:
    assert torch_page(url) == (url if known else "")
