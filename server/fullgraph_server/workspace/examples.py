"""Example calls of functions and classes, read from the source.

Example calls are comments directly above a definition, or the examples in the definition's docstring if one
of these names the definition::

    # fullgraph: toy(f32[10], f32[10])
    def toy(a, b):
        ...

``export`` before the call requests an export instead: ``# fullgraph: export Block()(f32[8])``.
A comment can give values for a dry run, which has no data: ``toy(f32[10], f32[10]) where item@12 = 3``.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import io
import keyword
import re
import symtable
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from fullgraph_compiler.facts import GIVEN_OPERATIONS, Example, ExampleCall, GivenValue
from fullgraph_compiler.facts.dtypes import DTYPES

from .positions import Span, TextProblem
from .source import SourceFile
from .syntax import first_row, nodes_of

NamedDefinition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_COMMENT = re.compile(r"#\s*fullgraph:(?!\s*ignore(?![\w(.]))\s*")
"""The beginning of a comment with an example call."""
_EXPORT = re.compile(r"export\s+(?=\S)")
_WORD = re.compile(r"\w+")
_PROMPT = ">>> "
_WHERE = "where"
_GIVEN = re.compile(r"(\w{1,40})@(\d{1,9})\s*=\s*(\S{1,40})")
_MOST_DOCSTRING = 20_000
"""The longest docstring, in characters, in which examples are looked for: ``doctest`` is slow on longer
texts."""


_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_OPERANDS = (tokenize.NUMBER, tokenize.STRING, getattr(tokenize, "FSTRING_END", None))
_KEYWORDS = frozenset(keyword.kwlist) - {"None", "True", "False"}
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""The exceptions that Python's parser raises for text that it cannot parse."""
_GIVEN_NAMES = frozenset((*dir(builtins), *DTYPES, "torch"))
"""The names that an example call can use in addition to the names of its file."""
_NAMED = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar
)  # fmt: skip
"""The types of nodes that bind a name and have this name in ``name``."""
_DYNAMIC = re.compile(r"\b(?:globals|vars|exec|setattr|__dict__)\b|\bimport\s*\*")
"""Code that can define names that do not appear in the source as definitions."""


@dataclass(frozen=True)
class FileExamples:
    """The examples of one file in function order, and problems of unusable comments."""

    examples: tuple[Example, ...] = ()
    problems: tuple[TextProblem, ...] = ()


@dataclass(frozen=True)
class _RowComment:
    """A comment that stands alone on its row. ``column`` is 0-based, in characters."""

    row: int
    column: int
    text: str


@lru_cache(maxsize=256)
def find_examples(source: SourceFile) -> FileExamples:
    """Return the example calls of a file; none if the file has a syntax error."""
    if source.tree is None:
        return FileExamples()
    comments = _comments(source) if "fullgraph:" in source.text else {}
    examples, problems = [], []
    used: set[int] = set()
    has_prompt = ">>>" in source.text
    for qualname, node in named_definitions(source):
        own = [comment for comment in _above(node, comments) if _COMMENT.match(comment.text)]
        used.update(comment.row for comment in own)
        calls = []
        for comment in own:
            call = _call(source, comment)
            if isinstance(call, TextProblem):
                problems.append(call)
            else:
                calls.append(call)
        if has_prompt:
            docstring = _docstring_calls(source, node)
            if isinstance(docstring, TextProblem):
                problems.append(docstring)
            else:
                calls += docstring
        if calls:
            examples.append(Example(qualname, tuple(calls)))
    problems += [
        _problem(
            source, comment, "an example call must be directly above a top-level function, method or class"
        )
        for comment in comments.values()
        if _COMMENT.match(comment.text) and comment.row not in used
    ]
    return FileExamples(tuple(examples), tuple(sorted(problems, key=lambda problem: problem.span.row)))


@lru_cache(maxsize=256)
def unknown_names(source: SourceFile) -> tuple[TextProblem, ...]:
    """Return undefined names in example calls, except calls in docstrings.

    Return none for a file that can define names dynamically (``exec``, ``import *``), because then only a run
    shows which names exist.
    """
    if source.tree is None or "fullgraph:" not in source.text or _DYNAMIC.search(source.text):
        return ()
    try:
        return tuple(_unknown_names(source, _GIVEN_NAMES | module_names(source)))
    except _UNREADABLE:  # symtable rejects some code that the parser accepts
        return ()


def _unknown_names(source: SourceFile, known: frozenset[str]) -> Iterator[TextProblem]:
    for example in find_examples(source).examples:
        assigned: set[str] = set()
        for call in example.calls:
            if not _COMMENT.match(source.line(call.row).lstrip()):
                continue
            table = symtable.symtable(call.source, source.filename, "exec")
            assigned.update(symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned())
            unknown = _used_names(table) - known - assigned
            for node in nodes_of(ast.Name, ast.parse(call.source)):
                if node.id in unknown and not node.id.startswith("__"):
                    unknown.remove(node.id)
                    start = source.column(call.row, call.column + node.col_offset)
                    span = Span(source.filename, call.row, start, call.row, start + len(node.id))
                    yield TextProblem(f"`{node.id}` is not defined in this file", span)


def module_names(source: SourceFile) -> frozenset[str]:
    """Return a module's global names, and the names that its comprehensions bind.

    Raises ``SyntaxError`` for a module that parses but does not compile.
    """
    return frozenset(_global_names(source.tree)) - {"*"} if source.tree else frozenset()


def _global_names(tree: ast.Module) -> Iterator[str]:
    """Yield a module's global names, also those that functions declare ``global``.

    ``symtable`` is not used because its time is quadratic in the number of symbols.
    """
    pending: list[tuple[ast.AST, bool]] = [(tree, True)]
    while pending:
        node, is_global = pending.pop()
        if isinstance(node, ast.Global):
            yield from node.names
        elif isinstance(node, ast.Nonlocal) and is_global:
            raise SyntaxError("nonlocal outside of a function")
        elif is_global:
            yield from _bound(node)
        is_scope = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda))
        pending += [(child, is_global and not is_scope) for child in ast.iter_child_nodes(node)]


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds."""
    name: str | None = None
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        name = node.id
    elif isinstance(node, ast.alias):
        name = node.asname or node.name.partition(".")[0]
    elif isinstance(node, _NAMED):
        name = node.name
    elif isinstance(node, ast.MatchMapping):
        name = node.rest
    if name:
        yield name


def _used_names(table: symtable.SymbolTable) -> set[str]:
    """Return the names that an expression reads from the scope around it."""
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return names.union(*map(_used_names, table.get_children()))


def begins_example(line: str) -> bool:
    """Return whether a line is a comment with an example call."""
    return _COMMENT.match(line.lstrip()) is not None


def definition_below(source: SourceFile, row: int) -> tuple[str, NamedDefinition] | None:
    """Return the definition that an example call belongs to, with its qualified name."""
    for qualname, node in named_definitions(source):
        top = first_row(node)
        between = (source.line(number).lstrip() for number in range(row, top))
        if row < node.lineno and (row > top or (row < top and all(line.startswith("#") for line in between))):
            return qualname, node
    return None


def named_definitions(source: SourceFile) -> Iterator[tuple[str, NamedDefinition]]:
    """Yield a module's functions, methods and classes by qualified name.

    Definitions inside an ``if`` or ``try`` are included.
    """
    if source.tree is not None:
        yield from _definitions(source.tree, "")


def _definitions(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, NamedDefinition]]:
    for child in statements(node.body):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield prefix + child.name, child
            if isinstance(child, ast.ClassDef):
                yield from _definitions(child, f"{prefix}{child.name}.")


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run on import, also those in ``if`` or ``try``."""
    pending = body[::-1]
    while pending:
        statement = pending.pop()
        yield statement
        # Not recursive, because each elif is nested in the if before it.
        if isinstance(statement, (ast.If, ast.Try)) and not _is_main(statement):
            handlers = [inner for handler in getattr(statement, "handlers", ()) for inner in handler.body]
            pending += [*statement.body, *handlers, *statement.orelse][::-1]


def _is_main(statement: ast.stmt) -> bool:
    """Return whether a statement is ``if __name__ == "__main__"``."""
    names = ast.walk(statement.test) if isinstance(statement, ast.If) else ()
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in names)


# -- comments ----------------------------------------------------------------------------------


def _comments(source: SourceFile) -> dict[int, _RowComment]:
    comments = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            row, column = token.start
            if token.type == tokenize.COMMENT and not token.line[:column].strip():
                comments[row] = _RowComment(row, column, token.string)
    except (tokenize.TokenError, SyntaxError):
        pass
    return comments


def _above(node: NamedDefinition, comments: dict[int, _RowComment]) -> Iterator[_RowComment]:
    """Yield the comments directly above a definition and between its decorators.

    They are in the order of the text.
    """
    top = first_row(node)
    while top - 1 in comments:
        top -= 1
    for row in range(top, node.lineno):
        if row in comments:
            yield comments[row]


def _call(source: SourceFile, comment: _RowComment) -> ExampleCall | TextProblem:
    prefix = _COMMENT.match(comment.text)
    text = comment.text[prefix.end() :] if prefix else ""
    asked = _EXPORT.match(text)
    text = text[asked.end() :] if asked else text
    column = comment.column + len(comment.text) - len(text) + 1
    call, where = split_values(text)
    if asked and not expression_error(call) and not isinstance(ast.parse(call, mode="eval").body, ast.Call):
        return _problem(source, comment, "`export` must be followed by a call: `export Block()(f32[8])`")
    if reason := expression_error(call):
        message = f"example call is not an expression: {reason}" if text else "example call is empty"
        return _problem(source, comment, message)
    values = [_given(part) for part in where.split(",")] if where is not None else []
    if not all(values):
        names = ", ".join(f"`{name}`" for name in GIVEN_OPERATIONS)
        message = f"write a given value as OPERATION@LINE = NUMBER, with one of {names}: `where item@12 = 3`"
        return _problem(source, comment, message)
    given = tuple(value for value in values if value)
    offset = source.offset(comment.row, column)
    return ExampleCall(call.rstrip(), comment.row, offset, given, export=asked is not None)


def split_values(text: str) -> tuple[str, str | None]:
    """Split a text into a call and the values after ``where``.

    ``where`` cannot be part of the call, because in an expression a name never directly follows another
    operand.
    """
    depth, after_operand = 0, False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            is_name = token.type == tokenize.NAME and token.string not in _KEYWORDS
            if token.string == _WHERE and is_name and after_operand and not depth:
                return text[: token.start[1]], text[token.end[1] :]
            depth += (token.string in _OPENING) - (token.string in _CLOSING)
            after_operand = is_name or token.type in _OPERANDS or token.string in _CLOSING
    except (tokenize.TokenError, SyntaxError):
        pass
    return text, None


def expression_error(text: str) -> str:
    """Return why a text is not an expression; "" if it is an expression."""
    try:
        ast.parse(text, mode="eval")
    except _UNREADABLE as error:
        return error.msg if isinstance(error, SyntaxError) else str(error) or "it is too deep"
    return ""


def _given(text: str) -> GivenValue | None:
    """Parse ``item@12 = 3``; return ``None`` for any other text."""
    match = _GIVEN.fullmatch(text.strip())
    if match is None or match[1] not in GIVEN_OPERATIONS:
        return None
    try:
        value = ast.literal_eval(match[3])
    except _UNREADABLE:
        return None
    is_number = isinstance(value, (int, float)) if match[1] == "item" else type(value) is int and value >= 0
    return GivenValue(match[1], int(match[2]), value) if is_number else None


def _problem(source: SourceFile, comment: _RowComment, message: str) -> TextProblem:
    start = comment.column + 1
    return TextProblem(
        message, Span(source.filename, comment.row, start, comment.row, start + len(comment.text))
    )


# -- docstrings --------------------------------------------------------------------------------


def _docstring_calls(source: SourceFile, node: NamedDefinition) -> list[ExampleCall] | TextProblem:
    docstring = ast.get_docstring(node, clean=False)
    if docstring is None or ">>>" not in docstring:
        return []
    row = node.body[0].lineno
    try:
        if len(docstring) > _MOST_DOCSTRING:
            raise ValueError(f"it is longer than {_MOST_DOCSTRING:,} characters")
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError as error:
        # The parser's message counts rows in the docstring, not in the file.
        span = Span(source.filename, row, 1, row, len(source.line(row)) + 1)
        return TextProblem(f"docstring example cannot be read: {error}", span)
    examples = [example for example in examples if not example.options.get(doctest.SKIP)]
    if not any(node.name in _WORD.findall(example.source) for example in examples):
        return []
    return [_docstring_call(source, row + example.lineno, example) for example in examples]


def _docstring_call(source: SourceFile, row: int, example: doctest.Example) -> ExampleCall:
    prompt = source.line(row).find(_PROMPT)
    column = source.offset(row, prompt + len(_PROMPT) + 1) if prompt >= 0 else 0
    return ExampleCall(example.source.rstrip("\n"), row, column)
