"""Comments that ignore findings on their line: ``# fullgraph: ignore[GB0059]``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from .positions import Span
from .source import SourceFile

_COMMENT = re.compile(r"#\s*fullgraph:\s*ignore(?:\[(?P<codes>[^\]#]*)\]|(?![\w(.\[]))")


@dataclass(frozen=True, slots=True)
class IgnoreComment:
    """A comment that ignores the findings with the codes that it names.

    A code is torch's id of a graph break (``GB0059``) or a kind of finding (``recompile``). A comment without
    codes ignores nothing.
    """

    span: Span
    codes: tuple[str, ...]


@lru_cache(maxsize=256)
def ignore_comments(source: SourceFile) -> tuple[IgnoreComment, ...]:
    """Return a file's ignore comments up to the first syntax error.

    Return none if the file is too long to parse.
    """
    return tuple(_comments(source)) if "fullgraph" in source.text and not source.is_long else ()


def _comments(source: SourceFile) -> Iterator[IgnoreComment]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            found = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if found:
                row, column = token.start[0], token.start[1] + 1
                span = Span(source.filename, row, column + found.start(), row, column + found.end())
                codes = (code.strip() for code in (found["codes"] or "").split(","))
                yield IgnoreComment(span, tuple(filter(None, codes)))
    except (tokenize.TokenError, SyntaxError):
        return


def ignoring(source: SourceFile, row: int, code: str) -> tuple[Span, str] | None:
    """Return the edit that ignores findings with ``code`` in a row: a span and a text.

    Return ``None`` if no comment is possible there, for example inside a string.
    """
    own = next((comment for comment in ignore_comments(source) if comment.span.row == row), None)
    line = source.line(row)
    if own is not None:
        span, codes = own.span, (*own.codes, code)
    else:
        end = len(line.rstrip()) + 1
        span, codes = Span(source.filename, row, end, row, len(line) + 1), (code,)
    text = f"{'' if own else '  '}# fullgraph: ignore[{', '.join(codes)}]"
    edited = line[: span.column - 1] + text + line[span.end_column - 1 :]
    lines = [*source.lines[: row - 1], edited, *source.lines[row:]]
    after = SourceFile(source.filename, "\n".join(lines))
    if source.tree is not None and after.tree is None:
        return None
    stands = any(comment.span.row == row and code in comment.codes for comment in ignore_comments(after))
    return (span, text) if stands else None
