"""Completion in ``# fullgraph`` comments: example calls, names, codes to ignore."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from fullgraph_compiler.facts import GIVEN_OPERATIONS
from fullgraph_compiler.facts.dtypes import DTYPES
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..traces.seen_calls import CALLED
from ..workspace.examples import (
    NamedDefinition,
    definition_below,
    expression_error,
    module_names,
    named_definitions,
    split_values,
)
from ..workspace.positions import Span
from ..workspace.source import SourceFile
from ..workspace.syntax import positional
from .context import ServerContext
from .seen_calls import SeenCallActions

_BEGUN = re.compile(r"^\s*(?P<comment>#\s*(?P<word>f\w*)?)$")
"""Matches a comment ``# fullgraph:`` that has been typed up to the colon at most."""
_EXAMPLE = re.compile(r"^\s*#\s*fullgraph:\s*(?P<text>.*)$")
_BEHIND_CODE = re.compile(r"#\s*fullgraph:\s*(?P<word>\w*)$")
_IGNORE = re.compile(r"#\s*fullgraph:\s*ignore\[(?P<codes>[^\]#]*)$")
_WORD = re.compile(r"(?<!\w)\w*$")
_TO_FILL_IN = "values to fill in"
_SEEN = "seen in the last run"
_SEEN_IN_TRACE = "seen in the trace"


def register(
    context: ServerContext, seen_calls: SeenCallActions, codes_at: Callable[[str, int], Sequence[str]]
) -> None:
    """Register the handler of ``textDocument/completion``.

    ``codes_at`` returns the codes of the findings in a row that a comment can ignore.
    """
    options = types.CompletionOptions(trigger_characters=[":", "(", "[", "@"])

    @context.server.feature(types.TEXT_DOCUMENT_COMPLETION, options)
    async def completion(params: types.CompletionParams) -> list[types.CompletionItem]:
        filename = context.documents.filename(params.text_document.uri)
        source = context.documents.source(filename) if filename else None
        if source is None:
            return []
        row, column = context.documents.place(source.filename, params.position)
        before = source.line(row)[: column - 1]
        return list(_items(source, row, before)) if "#" in before else []

    def _items(source: SourceFile, row: int, before: str) -> Iterator[types.CompletionItem]:
        if (ignored := _IGNORE.search(before)) is not None:
            written = {code.strip() for code in ignored["codes"].split(",")}
            codes = codes_at(source.filename, row)
            yield from (_item(code, _Kind.EnumMember) for code in codes if code not in written)
        elif (begun := _BEGUN.match(before)) is not None and begun["word"]:
            if "fullgraph".startswith(begun["word"]):
                yield from _calls(source, row, before, begun["comment"], "# fullgraph: ")
        elif (example := _EXAMPLE.match(before)) is not None:
            if _WORD.fullmatch(example["text"]):
                yield from _calls(source, row, before, example["text"], " " if before.endswith(":") else "")
            yield from _words(source, row, example["text"])
        elif _BEHIND_CODE.search(before) is not None and (codes := codes_at(source.filename, row)):
            yield _item(f"ignore[{', '.join(codes)}]", _Kind.Keyword)

    def _calls(
        source: SourceFile, row: int, before: str, typed: str, prefix: str = ""
    ) -> Iterator[types.CompletionItem]:
        """Yield example calls that complete the typed text: seen calls, else a template."""
        below = definition_below(source, row)
        if below is None:
            return
        qualname, node = below
        end = len(before) + 1
        place = context.documents.range(Span(source.filename, row, end - len(typed), row, end))
        report, seen = seen_calls.newest(source.filename, qualname) or (None, [])
        for call in seen:
            text = prefix + call.text
            edit = types.TextEdit(place, text)
            yield types.CompletionItem(
                call.text,
                kind=_Kind.Snippet,
                detail=_SEEN_IN_TRACE if report and report.of_trace else _SEEN,
                text_edit=edit,
                filter_text=typed or text,
                sort_text="0",
            )
        if not seen and _takes_snippets(context.server):
            snippet = signature_snippet(dict(named_definitions(source)), qualname, node)
            yield types.CompletionItem(
                f"example call of {qualname}",
                kind=_Kind.Snippet,
                detail=_TO_FILL_IN,
                text_edit=types.TextEdit(place, prefix + snippet),
                filter_text=typed or qualname,
                insert_text_format=types.InsertTextFormat.Snippet,
                sort_text="0",
            )


_Kind = types.CompletionItemKind


def _words(source: SourceFile, row: int, text: str) -> Iterator[types.CompletionItem]:
    """Yield the words that may continue the text of an example call."""
    _, values = split_values(text)
    if values is not None:
        yield from (_item(f"{name}@", _Kind.Keyword) for name in GIVEN_OPERATIONS)
        return
    before_word = text.removesuffix(_WORD.findall(text)[0])
    if before_word.endswith(" ") and not expression_error(before_word.strip()):
        yield _item("where", _Kind.Keyword, "values for a dry run: `where item@12 = 3`")
        return
    if before_word.endswith("."):
        return  # attributes are unknown before a run
    for name, dtype in DTYPES.items():
        yield _item(name, _Kind.Function, f"a tensor of torch.{dtype}: {name}[2, 3]")
    yield _item("torch", _Kind.Module)
    classes = {name for name, node in named_definitions(source) if isinstance(node, ast.ClassDef)}
    functions = {name for name, _ in named_definitions(source)} - classes
    names = module_names(source) if source.tree is not None else ()
    for name in sorted({*names} - {"torch"}):
        kind = _Kind.Class if name in classes else _Kind.Function if name in functions else _Kind.Variable
        yield _item(name, kind)
    below = definition_below(source, row)
    if below is not None and "(" in text:
        called = _called(dict(named_definitions(source)), *below)
        headers = [function.args for function in called]
        parameters = dict.fromkeys(
            item.arg for header in headers for item in (*header.args, *header.kwonlyargs)
        )
        yield from (_item(f"{name}=", _Kind.Field) for name in parameters if name not in ("self", "cls"))


def _item(label: str, kind: types.CompletionItemKind, detail: str | None = None) -> types.CompletionItem:
    return types.CompletionItem(label, kind=kind, detail=detail)


# -- calls to fill in --------------------------------------------------------------------------


def signature_snippet(definitions: dict[str, NamedDefinition], qualname: str, node: NamedDefinition) -> str:
    """Write a call of a definition as a snippet.

    Each argument without a default becomes a placeholder.
    """
    numbers = iter(range(1, 1000))
    owner = definitions.get(qualname.rpartition(".")[0])
    if isinstance(node, ast.ClassDef):
        made = f"{qualname}({_arguments(definitions, f'{qualname}.__init__', numbers, bound=True)})"
        called = next((name for name in CALLED if f"{qualname}.{name}" in definitions), None)
        if called is None and not node.bases:
            return made
        return f"{made}({_arguments(definitions, f'{qualname}.{called}', numbers, bound=True)})"
    marks = [item.id for item in node.decorator_list if isinstance(item, ast.Name)]
    if not isinstance(owner, ast.ClassDef) or "staticmethod" in marks or "classmethod" in marks:
        bound = "classmethod" in marks
        return f"{qualname}({_arguments(definitions, qualname, numbers, bound=bound)})"
    cls = qualname.rpartition(".")[0]
    made = f"{cls}({_arguments(definitions, f'{cls}.__init__', numbers, bound=True)})"
    method = "" if node.name in CALLED else f".{node.name}"
    return f"{made}{method}({_arguments(definitions, qualname, numbers, bound=True)})"


def _arguments(
    definitions: dict[str, NamedDefinition], qualname: str, numbers: Iterator[int], *, bound: bool
) -> str:
    """Write placeholders for a function's required arguments.

    The placeholder is empty if the function is not among ``definitions``, for example if it is inherited.
    """
    function = definitions.get(qualname)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return f"${next(numbers)}"
    header, named = function.args, positional(function)
    required = named[1 if bound else 0 : len(named) - len(header.defaults)]
    arguments = [f"${{{next(numbers)}:{parameter.arg}}}" for parameter in required]
    for parameter, default in zip(header.kwonlyargs, header.kw_defaults, strict=True):
        if default is None:
            arguments.append(f"{parameter.arg}=${{{next(numbers)}:{parameter.arg}}}")
    return ", ".join(arguments)


def _called(
    definitions: dict[str, NamedDefinition], qualname: str, node: NamedDefinition
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions whose parameters an example call may name."""
    cls = qualname if isinstance(node, ast.ClassDef) else qualname.rpartition(".")[0]
    names = (qualname, *(f"{cls}.{name}" for name in ("__init__", *CALLED) if cls))
    for name in dict.fromkeys(names):
        function = definitions.get(name)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield function


def _takes_snippets(server: LanguageServer) -> bool:
    capabilities = server.client_capabilities.text_document
    completion = capabilities.completion if capabilities else None
    return bool(completion and completion.completion_item and completion.completion_item.snippet_support)
