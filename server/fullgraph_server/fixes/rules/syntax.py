"""The syntax around a finding, and edits that leave other characters unchanged."""

from __future__ import annotations

import ast
import io
import itertools
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeVar

from ...workspace.positions import Span
from ...workspace.ranges import node_span
from ...workspace.source import SourceFile
from ...workspace.syntax import (
    AnyFunction,
    blocks,
    bound,
    first_row,
    imports,
    last_row,
    names,
    nodes_of,
    resolved,
    stored,
)
from ...workspace.syntax import parameters as all_parameters
from ..editing import line_starts
from ..model import Edit

Node = ast.expr | ast.stmt
_Kind = TypeVar("_Kind", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class ParsedFile:
    r"""A file without syntax errors, with the parent of each node.

    The texts of nodes have ``\n`` between lines, whatever the line ends of the file are.
    """

    source: SourceFile
    tree: ast.Module

    # -- finding nodes ---------------------------------------------------------------------------------

    def at(self, span: Span) -> Node | None:
        """Return the innermost node with exactly this range.

        If there is no such node, return the largest node that starts there.
        """
        from_start = [
            node
            for node in self.source.nodes_at(span.row)
            if isinstance(node, (ast.expr, ast.stmt)) and self.span(node).column == span.column
        ]
        exact = [node for node in from_start if self.span(node) == span]
        return exact[-1] if exact else next(iter(from_start), None)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the parent of a node; ``None`` for the module."""
        return self._parents.get(node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield a node, then its ancestors up to the module."""
        inner: ast.AST | None = node
        while inner is not None:
            yield inner
            inner = self.parent(inner)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """Return the innermost statement around a node."""
        return next((item for item in self.around(node) if isinstance(item, ast.stmt)), None)

    def function(self, node: ast.AST) -> Function | None:
        """Return the innermost function around a node; never the node itself."""
        around = (item for item in self.around(node) if item is not node)
        return next((item for item in around if isinstance(item, Function)), None)

    def definition(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the innermost class around a node."""
        return next((item for item in self.around(node) if isinstance(item, ast.ClassDef)), None)

    def all(self, kind: type[_Kind], within: ast.AST | None = None) -> Iterator[_Kind]:
        """Yield all nodes of a kind in the file, or in a node."""
        return nodes_of(kind, within or self.tree)

    def functions(self) -> Iterator[Function]:
        """Yield all functions of the file."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the list of statements of the block that contains a statement."""
        parent = self.parent(statement)
        for block in blocks(parent) if parent else ():
            if statement in block:
                return block
        return [statement]

    def following(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the statements of the same block that come after a statement."""
        block = self.block(statement)
        return block[block.index(statement) + 1 :]

    def of_module(self, node: ast.AST) -> ast.stmt | None:
        """Return the top-level statement of the file that contains a node."""
        return next((item for item in self.around(node) if item in self.tree.body), None)

    # -- texts -----------------------------------------------------------------------------------------

    def span(self, node: Node | ast.arg, last: Node | None = None) -> Span:
        """Return the range of a node, or from a node to the later node ``last``."""
        return node_span(self.source, node, last)

    def text(self, node: Node, inner: Mapping[ast.AST, str] | None = None) -> str:
        """Return the text of a node.

        ``inner`` maps nodes inside the node to the texts that replace them.
        """
        first, last = self._offsets(node)
        text = self.source.text[first:last]
        for part, written in sorted((inner or {}).items(), key=lambda item: -self._offsets(item[0])[0]):
            start, end = self._offsets(part)
            text = text[: start - first] + written + text[end - first :]
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def operand(self, node: ast.expr, inner: Mapping[ast.AST, str] | None = None) -> str:
        """Return the text of an expression as an operand, in parentheses if needed.

        An operand stands next to an operator or a dot.
        """
        text = (inner or {}).get(node) or self.text(node, inner)
        tight = (
            ast.Name,
            ast.Attribute,
            ast.Call,
            ast.Subscript,
            ast.Constant,
            ast.List,
            ast.Tuple,
            ast.Dict,
        )
        is_number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex))
        return text if isinstance(node, tight) and not is_number and "\n" not in text else f"({text})"

    def argument(self, node: Node, inner: Mapping[ast.AST, str] | None = None) -> str:
        """Return the text of an expression as an argument, in parentheses if needed."""
        text = (inner or {}).get(node) or self.text(node, inner)
        loose = isinstance(node, (ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.GeneratorExp, ast.Starred))
        return f"({text})" if loose and not text.startswith("(") else text

    def assigned(self, node: ast.expr, inner: Mapping[ast.AST, str] | None = None) -> str:
        """Return an expression as an assigned value, in parentheses if on several lines."""
        return bracketed(self.argument(node, inner))

    def renamed(self, node: Node, names: Mapping[str, str]) -> str:
        """Return a node's text as an argument or a statement, with variables renamed."""
        return self.argument(
            node, {item: names[item.id] for item in nodes_of(ast.Name, node) if item.id in names}
        )

    def indentation(self, statement: ast.stmt) -> str:
        """Return the white space at the beginning of the line of a statement."""
        line = self.source.line(statement.lineno)
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    def is_first(self, statement: ast.stmt) -> bool:
        """Tell whether only white space precedes a statement on its line."""
        row = first_row(statement)
        column = self.span(statement).column if row == statement.lineno else 1
        is_continued = self.source.line(row - 1).endswith("\\") if row > 1 else False
        return not self.source.line(row)[: column - 1].strip() and not is_continued

    def is_elif(self, statement: ast.stmt) -> bool:
        """Tell whether a statement is the ``elif`` of another ``if``."""
        return isinstance(statement, ast.If) and self.text(statement).startswith("elif")

    def is_alone(self, statement: ast.stmt) -> bool:
        """Tell whether the lines of a statement contain nothing else but a comment."""
        end = self.span(statement)
        rest = self.source.line(end.end_row)[end.end_column - 1 :].strip()
        return self.is_first(statement) and (not rest or rest.startswith("#"))

    def comments(self, first: int, last: int) -> list[str]:
        """Return the comments in a range of rows, in order."""
        return [text for row, text in self._comments.items() if first <= row <= last]

    # -- edits -----------------------------------------------------------------------------------------

    def replaced(self, node: Node, text: str, last: Node | None = None) -> Edit:
        """Replace a node, or everything from a node to the later node ``last``."""
        return Edit(self.span(node, last), text)

    def ahead(self, node: Node, text: str) -> Edit:
        """Insert text before a node."""
        span = self.span(node)
        return Edit(replace(span, end_row=span.row, end_column=span.column), text)

    def behind(self, node: Node | ast.arg, text: str) -> Edit:
        """Insert text after a node."""
        span = self.span(node)
        return Edit(replace(span, row=span.end_row, column=span.end_column), text)

    def under(self, header: str, statement: ast.stmt) -> Edit:
        """Put a one-line statement under a header such as ``with x``."""
        indent = self.indentation(statement) + self.unit(statement)
        return self.ahead(statement, f"{header}:\n{indent}")

    def before(self, statement: ast.stmt, lines: Iterable[str]) -> Edit | None:
        """Insert statements before a statement; return ``None`` if no line can be added."""
        row, column = first_row(statement), self.span(statement).column
        written = list(lines)
        if self.is_elif(statement):
            return None
        if self.is_first(statement):
            indent = self.indentation(statement)
            column = len(indent) + 1
            text = "".join(f"{line}\n{indent}" for line in written)
        elif all(is_simple(line) for line in written):
            text = "".join(f"{line}; " for line in written)
        else:
            return None
        return Edit(Span(self.source.filename, row, column, row, column), text)

    def after(self, statement: ast.stmt, lines: Iterable[str]) -> Edit | None:
        """Insert statements after a statement; return ``None`` if no line can be added."""
        span, written = self.span(statement), list(lines)
        if isinstance(statement, _COMPOUND) or not self.is_alone(statement):
            if isinstance(statement, _COMPOUND) or not all(is_simple(line) for line in written):
                return None
            return self.behind(statement, "".join(f"; {line}" for line in written))
        end = len(self.source.line(span.end_row)) + 1  # after a comment
        place = Span(span.filename, span.end_row, end, span.end_row, end)
        indent = self.indentation(statement)
        return Edit(place, "".join(f"\n{indent}{line}" for line in written))

    def removed(self, statement: ast.stmt) -> Edit:
        """Remove a statement, or replace it by ``pass`` if its block would be empty."""
        block, span = self.block(statement), self.span(statement)
        if len(block) == 1 and not isinstance(self.parent(statement), ast.Module):
            return Edit(span, "pass")
        first = first_row(statement)
        if self.is_alone(statement):
            if span.end_row < len(self.source.lines):
                return Edit(Span(span.filename, first, 1, span.end_row + 1, 1), "")
            return Edit(
                Span(span.filename, first, 1, span.end_row, len(self.source.line(span.end_row)) + 1), ""
            )
        following = self.following(statement)
        if following and following[0].lineno == span.end_row:
            after = self.span(following[0])
            return Edit(Span(span.filename, first, span.column, after.row, after.column), "")
        before = self.span(block[block.index(statement) - 1]) if statement is not block[0] else None
        if before is not None and before.end_row == first:
            place = Span(span.filename, before.end_row, before.end_column, span.end_row, span.end_column)
            return Edit(place, "")
        return Edit(span, "pass")

    def appended(self, call: ast.Call, text: str) -> Edit:
        """Add an argument at the end of a call, also after a trailing comma."""
        span, inside = self.span(call), self.text(call)[:-1].rstrip()
        row, column = span.end_row, span.end_column - 1
        is_empty = not call.args and not call.keywords
        separator = "" if is_empty or inside.endswith(",") else ", "
        return Edit(Span(span.filename, row, column, row, column), f"{separator}{text}")

    def imported(self, line: str) -> Edit:
        """Insert a line after the imports at the top of the module; the line can use them."""
        head = self.tree.body[: self._head]
        if not head:
            row = 1
            while row <= len(self.source.lines) and self.source.line(row).lstrip().startswith("#"):
                row += 1
            place = Span(self.source.filename, row, 1, row, 1)
            return Edit(place, f"{line}\n")
        rows = {statement.lineno: statement for statement in self.tree.body}
        last = head[-1]
        while (end := last_row(last)) in rows and rows[end] is not last:
            last = rows[end]
        separated = "" if line.startswith(("import ", "from ")) else "\n"
        if end < len(self.source.lines):
            place = Span(self.source.filename, end + 1, 1, end + 1, 1)
            return Edit(place, f"{separated}{line}\n")
        column = len(self.source.line(end)) + 1
        return Edit(Span(self.source.filename, end, column, end, column), f"\n{separated}{line}")

    @property
    def torch(self) -> str:
        """The name of torch in this module; empty if the imports at the top lack torch."""
        for statement in self.tree.body[: self._head]:
            for item in statement.names if isinstance(statement, ast.Import) else ():
                if item.name == "torch" and item.asname:
                    return item.asname
                if item.name.partition(".")[0] == "torch" and not item.asname:
                    return "torch"
        return ""

    def setting(self, text: str) -> Edit:
        """Insert a statement that uses ``torch`` after the imports.

        The import of torch is added if it is missing.
        """
        if self.torch:
            return self.imported(self.of_torch(text))
        return self.imported(f"import torch\n\n{text}")

    def of_torch(self, text: str) -> str:
        """Rewrite code to use the name that this module has for torch."""
        return re.sub(r"(?<![\w.])torch\b(?=\.)", self.torch or "torch", text)

    def importing_torch(self) -> tuple[Edit, ...]:
        """Insert the import of torch if it is missing."""
        return () if self.torch else (self.imported("import torch"),)

    def unit(self, statement: ast.stmt) -> str:
        """Return the indentation of one block level around a statement."""
        for outer in self.around(statement):
            parent = self.parent(outer)
            if isinstance(outer, ast.stmt) and isinstance(parent, ast.stmt):
                inner, around = self.indentation(outer), self.indentation(parent)
                if inner != around and inner.startswith(around):
                    return inner.removeprefix(around)
        return "    "

    # -- names -----------------------------------------------------------------------------------------

    def is_read_later(self, statement: ast.stmt, name: str) -> bool:
        """Tell whether a variable may be read after a statement.

        A read in the next iteration of a loop counts as later.
        """
        scope = self.function(statement) or self.tree
        inside = set(ast.walk(statement))
        end = (last_row(statement), statement.end_col_offset or 0)
        loops = [
            item for item in self.around(statement) if isinstance(item, (ast.For, ast.AsyncFor, ast.While))
        ]
        again = {node for loop in loops for node in ast.walk(loop)}
        for node in ast.walk(scope):
            if isinstance(node, ast.Name) and node.id == name and node not in inside:
                is_read = isinstance(node.ctx, ast.Load) or isinstance(self.parent(node), ast.AugAssign)
                is_elsewhere = (self.function(node) or self.tree) is not scope
                if is_read and ((node.lineno, node.col_offset) >= end or node in again or is_elsewhere):
                    return True
            elif isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
                return True
        return False

    def is_bound_before(self, statement: ast.stmt, name: str) -> bool:
        """Tell whether a variable is certainly assigned when a statement begins.

        Only the blocks around the statement are inspected.
        """
        function = self.function(statement)
        if function is not None and name in parameters(function):
            return True
        inner: ast.AST = statement
        for outer in self.around(statement):
            for block in blocks(outer):
                if inner in block and any(name in bound(item) for item in block[: block.index(inner)]):
                    return True
            if (
                isinstance(outer, (ast.For, ast.AsyncFor))
                and inner is not outer
                and name in names(outer.target)
            ):
                return True
            if outer is function:
                return False
            inner = outer
        return False

    def mentions(self, name: str) -> bool:
        """Tell whether the file uses a name for a variable, an attribute or a keyword."""
        return name in self._used

    def meaning(self, node: ast.AST | None) -> str:
        """Return the full dotted name of a node, with the module that it comes from."""
        return resolved(node, self.imports)

    def new_name(self, wanted: str) -> str:
        """Return a name that the file does not use yet."""
        return unused(wanted, self.mentions)

    @cached_property
    def imported_names(self) -> frozenset[str]:
        """The names that the imports at the module's top level bind."""
        return frozenset(name for item in self.tree.body if _is_import(item) for name in stored(item))

    @cached_property
    def module_names(self) -> frozenset[str]:
        """The names that the module's top-level statements bind."""
        return frozenset(name for statement in self.tree.body for name in stored(statement))

    @cached_property
    def imports(self) -> Mapping[str, str]:
        """The full names of everything that the file imports, by their local names."""
        return imports(self.tree)

    @cached_property
    def _used(self) -> frozenset[str]:
        found: set[str] = set()
        for node in ast.walk(self.tree):
            for field in ("id", "arg", "name", "asname", "attr"):
                value = getattr(node, field, None)
                found.update([value] if isinstance(value, str) else ())
        return frozenset(found)

    @cached_property
    def _head(self) -> int:
        """The number of statements at the top of the file: docstring and imports.

        The imports reach at least to the import of torch, also across other statements.
        """
        head = int(ast.get_docstring(self.tree) is not None)
        for index, statement in enumerate(self.tree.body[head:], head):
            if _is_import(statement):
                head = index + 1
            elif any(_imports_torch(item) for item in self.tree.body[:head]) or not any(
                _imports_torch(item) for item in self.tree.body[index:]
            ):
                break
        return head

    @cached_property
    def _parents(self) -> Mapping[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _starts(self) -> Sequence[int]:
        return line_starts(self.source.text)

    @cached_property
    def _comments(self) -> Mapping[int, str]:
        reader = io.StringIO(self.source.text.replace("\r\n", "\n").replace("\r", "\n"))
        try:
            tokens = list(tokenize.generate_tokens(reader.readline))
        except (tokenize.TokenError, SyntaxError):
            return {}
        return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}

    def _offsets(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, (ast.expr, ast.stmt, ast.keyword, ast.arg))
        end_row = last_row(node)
        first = self._starts[node.lineno - 1] + self.source.column(node.lineno, node.col_offset) - 1
        return first, self._starts[end_row - 1] + self.source.column(end_row, node.end_col_offset or 0) - 1


_COMPOUND = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.FunctionDef,
    ast.AsyncFunctionDef, ast.ClassDef, ast.Match,
)  # fmt: skip


@lru_cache(maxsize=32)
def code_of(source: SourceFile | None) -> ParsedFile | None:
    """Return the parsed file; ``None`` if there is no file or it has a syntax error."""
    return ParsedFile(source, source.tree) if source is not None and source.tree is not None else None


def unused(wanted: str, is_used: Callable[[str], bool]) -> str:
    """Return the wanted name, with a number appended if the name is already used."""
    numbered = (f"{wanted}_{number}" for number in itertools.count(2))
    return next(name for name in itertools.chain([wanted], numbered) if not is_used(name))


def defined(body: Iterable[ast.stmt], name: str) -> Function | None:
    """Return the function ``name`` that a block defines; ``None`` if there is none."""
    return next((item for item in body if isinstance(item, Function) and item.name == name), None)


def bracketed(text: str) -> str:
    """Put an expression of several lines in parentheses, so that it stands alone."""
    return f"({text})" if "\n" in text else text


def parameters(function: AnyFunction) -> list[str]:
    """Return the names of a function's parameters, in order."""
    return [item.arg for item in all_parameters(function)]


def is_simple(line: str) -> bool:
    """Tell whether a text consists of statements that can share a line with others."""
    try:
        body = ast.parse(line).body
    except SyntaxError:
        return False
    return all(not isinstance(item, _COMPOUND) for item in body) and "\n" not in line


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom))


def _imports_torch(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import) and any(
        item.name.partition(".")[0] == "torch" for item in statement.names
    )
