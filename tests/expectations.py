"""Parser of the findings that a case program expects.

They are in comments on the lines where the findings start. ::

    print("woo")  # expect: GB0059
    print("woo")  # expect: GB0059 [print("woo")]
    with LOCK:  # expect: GB0142 [LOCK]; skipped-frame
    y = sizes[1]  # expect(<2.15): GB4880 [sizes[1]]  # expect(>=2.15): GB9493

A code is torch's graph-break id or one of Fullgraph's own words. The text in brackets is the exact
source of the finding's range, only its first row if it has several. ``tests/cases/README.md`` says
what a case is.
"""

from __future__ import annotations

import io
import operator
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_MARK = re.compile(r"#\s*expect\b")
_START = re.compile(r"(?:\((?P<compare><=|>=|==|!=|<|>)(?P<version>\d+\.\d+)\))?:\s*")
_ITEM = re.compile(r"(?P<code>[A-Za-z][\w-]*)(?:\s+\[(?P<text>.*?)\])?\s*(?:;\s*|$)")
"""A text may hold brackets: it ends at one that a semicolon or the end of the comment follows."""
_COMPARE: dict[str, Callable[[tuple[int, int], tuple[int, int]], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


@dataclass(frozen=True, slots=True, order=True)
class Expectation:
    """A finding that a program must have.

    ``row`` is 1-based; ``text`` is ``None`` if any text will do.
    """

    row: int
    code: str
    text: str | None = None


def parse_expectations(path: Path | str, torch_version: str) -> list[Expectation]:
    """Return the program's expectations that hold for ``torch_version``, by row.

    ``path`` is the program. Raises ``ValueError``, which names the place, for a comment in another format
    than that of the module.
    """
    source = Path(path).read_text(encoding="utf-8")
    expectations = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            for code, text in _parse_comment(token.string, torch_version, f"{path}:{token.start[0]}"):
                expectations.append(Expectation(token.start[0], code, text))
    return expectations


def holds(compare: str | None, bound: str, torch_version: str) -> bool:
    """Return whether a bound on torch's version, such as ``<2.15``, holds.

    ``compare`` is ``<`` and ``bound`` is ``2.15``; without both, it always holds.
    """
    return compare is None or _COMPARE[compare](_version(torch_version), _version(bound))


def _parse_comment(comment: str, torch_version: str, place: str) -> Iterator[tuple[str, str | None]]:
    marks = list(_MARK.finditer(comment))
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        part = comment[mark.end() : following.start() if following else len(comment)].rstrip()
        start = _START.match(part)
        if start is None or start.end() == len(part):
            raise ValueError(f"{place}: not an expectation: # expect{part}")
        is_meant = holds(start["compare"], start["version"], torch_version)
        position = start.end()
        while position < len(part):
            item = _ITEM.match(part, position)
            if item is None:
                raise ValueError(f"{place}: not an expectation: {part[position:]}")
            if is_meant:
                yield item["code"], item["text"]
            position = item.end()


def _version(text: str) -> tuple[int, int]:
    """Major and minor: torch's nightly and local suffixes say nothing here."""
    found = re.match(r"(\d+)\.(\d+)", text)
    if found is None:
        raise ValueError(f"not a torch version: {text!r}")
    return int(found[1]), int(found[2])
