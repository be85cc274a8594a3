"""The source text of a split function: its compiled part, and the function that calls it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress

from ...workspace.positions import Span
from ...workspace.syntax import first_row, last_row, positional
from ..model import Edit
from ..rules.expressions import WIDTH, wrapped
from ..rules.syntax import Function, ParsedFile, bracketed, unused
from .dependencies import returns
from .partition import FunctionParts
from .sites import CompileSite


def split_edit(code: ParsedFile, parts: FunctionParts, site: CompileSite, name: str) -> Edit | None:
    """Return the edit that replaces a function by its compiled part and the rest; ``None`` if impossible.

    ``name`` is that of the part.
    """
    function = parts.function
    if last_row(function.body[0]) == function.lineno:
        return None
    return _SplitFunction(code, parts, site, name).edit()


class _SplitFunction:
    def __init__(self, code: ParsedFile, parts: FunctionParts, site: CompileSite, name: str) -> None:
        self._code, self._parts, self._site = code, parts, site
        self._function: Function = parts.function
        self._indent = code.indentation(parts.function)
        self._body = code.indentation(parts.function.body[0])
        self._inside = code.indentation(parts.block[0])
        self._name = name
        self._is_method = isinstance(code.parent(parts.function), ast.ClassDef)
        around = code.parent(parts.block[0])
        assert isinstance(around, (Function, ast.For, ast.While, ast.With))
        docstring = parts.function.body[0] if parts.block[0] is not around.body[0] else None
        self._first_row = (last_row(docstring) if docstring else _header_end(code, around)) + 1
        """The first row of the block, or of the comments above it."""

    def edit(self) -> Edit:
        code, function, block = self._code, self._function, self._parts.block
        last = _return_at_end(self._parts.inner)
        result, returned = self._returned(last)
        inner = [item for item in self._parts.inner if item is not last]
        part = self._rows(inner, self._assignments())
        compiled = [f"{self._indent}{self._site.decorator}", *self._header()]
        compiled += [
            self._body + line.removeprefix(self._inside) if line.startswith(self._inside) else line
            for line in part
        ]
        if last is None and (value := _assigned_to(returned, compiled[-1].removeprefix(self._body))):
            compiled[-1] = f"{self._body}return {value}"
        elif returned:
            compiled += self._around_return(last, returned)
        removed = {row for item in self._site.removed for row in range(item.lineno, last_row(item) + 1)}
        before = range(first_row(function), self._first_row)
        rest = [code.source.line(row) for row in before if row not in removed]
        rest += self._rows(self._parts.head)
        call = f"{self._owner()}{self._name}({self._arguments()})"
        if not self._parts.tail and (last is not None or returns(inner)):
            rest += self._wrapped(f"return {call}")
        else:
            rest += self._wrapped(f"{result} = {call}" if result else call)
            rest += self._rows(self._parts.tail, replaced=True)
            own = self._own_result(last)
            rest += [f"{self._inside}return {own}"] if own else []
        rest += [code.source.line(row) for row in range(last_row(block[-1]) + 1, last_row(function) + 1)]
        gap = [""] if self._is_method or code.function(function) is not None else ["", ""]
        end = last_row(function), len(code.source.line(last_row(function))) + 1
        span = Span(code.source.filename, first_row(function), 1, *end)
        return Edit(span, "\n".join([*compiled, *gap, *rest]))

    def _wrapped(self, line: str) -> list[str]:
        return [f"{self._inside}{row}" for row in wrapped(line, WIDTH - len(self._inside))]

    def _around_return(self, last: ast.Return | None, returned: str) -> list[str]:
        """Return the rows that return the part's result, with the comments of the function's ``return``."""
        if last is None:
            return [f"{self._body}return {returned}"]
        code, block = self._code, self._parts.block
        begin = last_row(block[block.index(last) - 1]) + 1 if last is not block[0] else self._first_row
        above = [code.source.line(row).strip() for row in range(begin, first_row(last))]
        comments = "".join(f"  {text}" for text in code.comments(last_row(last), last_row(last)))
        rows = [f"{self._body}{line}" for line in above if line.startswith("#")]
        return [*rows, f"{self._body}return {returned}{comments}"]

    # -- the compiled part -------------------------------------------------------------------------

    def _header(self) -> list[str]:
        """Return the lines that begin the definition of the compiled part."""
        arguments = self._function.args
        annotations = {
            item.arg: item.annotation
            for item in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        }
        own = positional(self._function)[:1] if self._is_method else []
        written = [item.arg for item in own]
        for name in self._parts.given:
            note = annotations.get(name)
            if name not in written:
                written.append(f"{name}: {self._code.text(note)}" if note is not None else name)
        line = f"{self._indent}def {self._name}({', '.join(written)}):"
        if len(line) <= WIDTH:
            return [line]
        together = f"{self._body}{', '.join(written)}"
        rows = [together] if len(together) <= WIDTH else [f"{self._body}{item}," for item in written]
        return [f"{self._indent}def {self._name}(", *rows, f"{self._indent}):"]

    def _assignments(self) -> dict[ast.stmt, list[str]]:
        """Return the lines that compute values for the moved statements, in place of the statements."""
        return {
            statement: [f"{self._inside}{value.name} = {self._code.assigned(value.node)}" for value in values]
            for statement, values in self._parts.values.items()
            if values
        }

    def _returned(self, last: ast.Return | None) -> tuple[str, str]:
        """Return the names to which the function assigns the part's result, and the part's result."""
        results = list(self._parts.results)
        value = last.value if last is not None else None
        if value is None:
            text = ", ".join(results)
            return text, text
        if not results:
            return self._own_result(last), bracketed(self._code.argument(value))
        names = _names_of(value)
        if names is not None:
            every = ", ".join(dict.fromkeys([*names, *results]))
            return every, every
        is_loose = isinstance(value, (ast.Tuple, ast.Lambda, ast.IfExp))
        text = bracketed(self._code.text(value)) if not is_loose else f"({self._code.text(value)})"
        return ", ".join([self._own_result(last), *results]), ", ".join([text, *results])

    def _own_result(self, last: ast.Return | None) -> str:
        """Return what the function returns, as variables: ``""`` if nothing."""
        if last is None or last.value is None:
            return ""
        names = _names_of(last.value)
        return ", ".join(names) if names is not None else unused("result", self._code.mentions)

    # -- the function that calls it ----------------------------------------------------------------

    def _owner(self) -> str:
        return f"{positional(self._function)[0].arg}." if self._is_method else ""

    def _arguments(self) -> str:
        own = positional(self._function)[0].arg if self._is_method else ""
        return ", ".join(name for name in self._parts.given if name != own)

    def _rows(
        self,
        statements: Sequence[ast.stmt],
        added: dict[ast.stmt, list[str]] | None = None,
        *,
        replaced: bool = False,
    ) -> list[str]:
        """Return the rows of statements with the comments above them, in the order of the function."""
        code, block = self._code, self._parts.block
        found: list[str] = []
        for index, statement in enumerate(block):
            if added and statement in added:
                found += added[statement]
            if statement not in statements:
                continue
            begin = last_row(block[index - 1]) + 1 if index else self._first_row
            above = [code.source.line(row) for row in range(begin, first_row(statement))]
            own = [code.source.line(row) for row in range(first_row(statement), last_row(statement) + 1)]
            if replaced and (values := self._parts.values.get(statement, ())):
                text = code.text(statement, {value.node: value.name for value in values})
                rest = code.source.line(last_row(statement))[code.span(statement).end_column - 1 :]
                own = f"{self._inside}{text}{rest}".split("\n")
            if not found and not replaced:
                while above and not above[0].strip():
                    above.pop(0)
            found += [*above, *own]
        return found


def _return_at_end(statements: Sequence[ast.stmt]) -> ast.Return | None:
    last = statements[-1] if statements else None
    return last if isinstance(last, ast.Return) else None


def _assigned_to(name: str, line: str) -> str:
    """Return the value that a line assigns to a variable, with the line's comment.

    Return "" if the line is not a whole assignment to this variable.
    """
    target, _, value = line.partition(" = ")
    if not name or target != name:
        return ""
    try:
        ast.parse(line)
    except SyntaxError:
        return ""
    return value


def _names_of(value: ast.expr) -> list[str] | None:
    """Return the variables of a result that is a variable or a tuple of different variables."""
    items = value.elts if isinstance(value, ast.Tuple) else [value]
    names = [item.id for item in items if isinstance(item, ast.Name)]
    return names if len(names) == len(items) == len(set(names)) and names else None


def _header_end(code: ParsedFile, node: Function | ast.For | ast.While | ast.With) -> int:
    """Return the row of the colon that ends the header of a compound statement."""
    rows: list[str] = []
    for row in range(node.lineno, first_row(node.body[0])):
        rows.append(code.source.line(row))
        with suppress(SyntaxError):
            ast.parse("\n".join([*rows, " pass"]).strip())
            return row
    return node.lineno
