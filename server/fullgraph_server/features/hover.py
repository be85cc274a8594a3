"""Hover: guards on a name, summary of a function, explanation of a finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.documents import ClientDocuments
from ..client.findings import ShownFinding, names_of
from ..client.projection import FileView
from ..report.kernels import operators
from ..report.model import GeneratedCode, KernelLaunch
from ..text.markdown import code_span, escaped, link, paragraphs
from ..text.messages import counted
from ..workspace.examples import begins_example
from ..workspace.positions import Span
from .artifacts import is_artifact
from .context import ServerContext
from .explanation import explanation_link, explanation_uri
from .fix_actions import FixActions
from .guard_text import NO_LINKS, GuardLinks, function_text, guards_at, sizes_text
from .kernels import CodeMap

_MOST_KERNELS = 8
_EXAMPLE = """\
**Example call**: a call of the definition below, which is compiled without a script. The lens above the \
definition runs it.

- `f32[8, 16]` is a tensor of that dtype and shape; likewise `f64 f16 bf16 i64 i32 u8 b8 c64` and the rest, \
as torch prints them.
- It can use `torch` and the names of this file: `Block(d=64)(f32[2, 16, 64])`.
- Several lines are calls in sequence: a second shape shows which recompilation it causes.
- `export Block(d=64)(f32[2, 16, 64])` exports it with `torch.export` instead; `dynamic_shapes=` may follow \
the arguments.
- `f(f32[8]) where item@12 = 3, nonzero@14 = 5` gives a dry run the values of `item()` in line 12 and of \
`nonzero()` in line 14."""


def register(context: ServerContext, kernels: CodeMap, fix_actions: FixActions) -> None:
    """Register the handler of ``textDocument/hover``."""

    def line(filename: str, row: int) -> str:
        is_markdown = _markup_kind(context.server) is types.MarkupKind.Markdown
        return context.documents.line_uri(filename, row) if is_markdown else ""

    links = GuardLinks(lambda uri: explanation_link(context.server, uri), line, context.documents.row_words)

    @context.server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        filename = context.documents.filename(params.text_document.uri)
        if is_artifact(params.text_document.uri):
            text = source_text(context.documents, kernels, params.text_document.uri, params.position.line + 1)
            return types.Hover(types.MarkupContent(_markup_kind(context.server), text)) if text else None
        if filename is None:
            return None
        row, column = context.documents.place(filename, params.position)
        line = context.documents.line(filename, row)
        description = describe(context.projections.of(filename), line, row, column, links, fix_actions.text)
        if description is None:
            return None
        text, span = description
        content = types.MarkupContent(_markup_kind(context.server), text)
        return types.Hover(content, context.documents.range(span))


def describe(
    view: FileView,
    line: str,
    row: int,
    column: int,
    links: GuardLinks = NO_LINKS,
    fix_of: Callable[[ShownFinding], str] = lambda _: "",
) -> tuple[str, Span] | None:
    """Return the hover text at a place, and the range that it describes."""
    sections: list[tuple[str, Span]] = []
    whole = Span(view.filename, row, len(line) - len(line.lstrip()) + 1, row, len(line.rstrip()) + 1)
    for shown in view.findings_at(row, column):
        explanation = links.explanation(explanation_uri(shown.report.target, shown.finding))
        # A client with links shows the diagnostic above the hover, with its title, reason and advice.
        sections.append((explanation or finding_text(shown), shown.span))
        if fix := fix_of(shown):
            sections.append((fix, shown.span))
    around = view.functions_at(row)
    if (named := guards_at(view, around, line, row, column, links)) is not None:
        sections.append(named)
    if around:
        function, earlier = around[0]
        if function.first_row <= earlier <= function.frame.row:
            same = view.of_targets(function)
            for each in same:
                of_target = f"{code_span(names_of([each.report.target]))}: " if len(same) > 1 else ""
                sections.append((of_target + function_text(view, each, links), whole))
    if begins_example(line):
        sections.append((_EXAMPLE, whole))
    if (sizes := view.sizes_at(row)) is not None:
        sections.append((sizes_text(*sizes), whole))
    if launches := view.launches_at(row):
        sections.append((kernels_text(launches), whole))
    if not sections:
        return None
    return "\n\n---\n\n".join(text for text, _ in sections), sections[0][1]


# -- findings and kernels -----------------------------------------------------------------------


def source_text(documents: ClientDocuments, kernels: CodeMap, uri: str, row: int) -> str:
    """List the operations in a row of generated code, with the user's lines."""
    lines = []
    for names, location in kernels.sources_at(uri, row):
        filename, now = documents.filename(location.uri) or "", location.range.start.line + 1
        code = documents.line(filename, now).strip()
        operations = f"{', '.join(map(code_span, names))}, " if names else ""
        at = f"{Path(filename).name}:{documents.shown_row(filename, now)}"
        place = link(at, documents.line_uri(filename, now))
        lines.append(f"- {operations}{place}: {code_span(code)}")
    return "\n".join(dict.fromkeys(lines))


def kernels_text(launches: Sequence[tuple[GeneratedCode, KernelLaunch]]) -> str:
    """List the kernel launches of a line with their pass and operations."""
    lines = [
        f"- {code.phase}: {code_span(launch.name)}"
        + (f" ({escaped(done)})" if (done := operators([launch])) else "")
        for code, launch in launches
    ]
    lines = list(dict.fromkeys(lines))
    left = len(lines) - _MOST_KERNELS
    more = [f"- and {left:,} more"] if left > 0 else []
    return "\n".join(["**Kernels of this line**", "", *lines[:_MOST_KERNELS], *more])


def finding_text(shown: ShownFinding) -> str:
    """Render a finding for a client without links.

    The text has the message, and everything that the diagnostic leaves out.
    """
    finding = shown.finding
    rest = finding.explanation.strip().partition("\n")[2].strip()
    code = link(finding.code, finding.url) if finding.url else code_span(finding.code)
    times = f", {counted(finding.count, 'time')}" if finding.count > 1 else ""
    parts = [f"**{escaped(shown.message)}** ({code}{times})", paragraphs(rest)]
    if len(finding.hints) > 1:
        parts.append("\n".join(f"- {escaped(hint)}" for hint in finding.hints[1:]))
    return "\n\n".join(part for part in parts if part)


# -- text --------------------------------------------------------------------------------------


def _markup_kind(server: LanguageServer) -> types.MarkupKind:
    capabilities = server.client_capabilities.text_document
    formats = capabilities.hover.content_format if capabilities and capabilities.hover else None
    plain = formats is not None and types.MarkupKind.Markdown not in formats
    return types.MarkupKind.PlainText if plain else types.MarkupKind.Markdown
