"""The regular expressions of modules that see a log's text, and hard texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    from re import _parser as sre  # type: ignore[attr-defined]
except ImportError:  # until Python 3.10
    import sre_parse as sre

ROOT = Path(__file__).parents[3]
FOLDERS = ("compiler/fullgraph_compiler/trace", "server/fullgraph_server")
_FUNCTIONS = ("compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer")
_MOST_TIMES = 3
"""As often an optional part is repeated in an example."""


@dataclass(frozen=True)
class Place:
    """A pattern, where it is written, and its flags."""

    name: str
    row: int
    pattern: re.Pattern[Any]

    def __str__(self) -> str:
        return f"{self.name}:{self.row}"


def patterns() -> Iterator[Place]:
    """Yield the patterns that are literals in the modules.

    A value that is inserted into a pattern at run time is replaced by a letter.
    """
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and (found := _written(node)) is not None:
                    yield Place(path.relative_to(ROOT).as_posix(), node.lineno, found)


def _written(call: ast.Call) -> re.Pattern[Any] | None:
    function = call.func
    if not (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in _FUNCTIONS
    ):
        return None
    text = _text(call.args[0])
    flags = [item for item in (*call.args[1:], *(word.value for word in call.keywords)) if _is_flag(item)]
    number = 0
    for item in flags:
        number |= eval(ast.unparse(item), {"re": re})
    return None if text is None else re.compile(text, number)


def _is_flag(node: ast.expr) -> bool:
    names = [item for item in ast.walk(node) if isinstance(item, ast.Attribute)]
    return bool(names) and all(name.attr.isupper() for name in names)


def _text(node: ast.expr) -> str | bytes | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "x" for part in node.values]
        return "".join(map(str, parts))
    return None


def hostile(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """Return pairs of a beginning and a repeatable continuation that almost match.

    Each part of the pattern is repeated by itself, and with the parts around it.
    """
    parsed = sre.parse(pattern.pattern, pattern.flags)
    found: dict[tuple[str, str], None] = {}
    for parts in _alternatives(parsed):
        texts = _joined([_examples(part) for part in parts])
        for start in range(len(texts)):
            before = "".join(text[0] for text in texts[:start])
            for end in range(start + 1, len(texts) + 1):
                for choice in range(max(len(text) for text in texts[start:end])):
                    pump = "".join(text[min(choice, len(text) - 1)] for text in texts[start:end])
                    if pump:
                        found[before, pump] = None
                        found["", before + pump] = None
    return list(found)


def _joined(texts: list[list[str]]) -> list[list[str]]:
    """The parts with those that have one example only put together."""
    joined: list[list[str]] = []
    for text in texts:
        if len(text) == 1 and joined and len(joined[-1]) == 1:
            joined[-1] = [joined[-1][0] + text[0]]
        else:
            joined.append(text)
    return joined


def _alternatives(parsed: Any) -> Iterator[list[Any]]:
    """The ways through a pattern, each as its parts one after another."""
    ways: list[list[Any]] = [[]]
    for part in parsed:
        name, value = str(part[0]), part[1]
        inner: list[Sequence[Any]]
        if name == "SUBPATTERN":
            inner = list(_alternatives(value[3]))
        elif name == "BRANCH":
            inner = [way for branch in value[1] for way in _alternatives(branch)]
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and value[1] == 1:
            inner = [*_alternatives(value[2]), []]
        else:
            inner = [[part]]
        ways = [[*way, *more] for way in ways for more in inner][:200]
    yield from ways


def _examples(part: Any) -> list[str]:
    """Texts that a part of a pattern matches."""
    name, value = str(part[0]), part[1]
    if name == "LITERAL":
        return [chr(value)]
    if name == "NOT_LITERAL":
        return [_other(lambda character: ord(character) != value)]
    if name == "ANY":
        return ["x", " "]
    if name == "IN":
        return _members(value)
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, inner = value
        times = max(least, min(int(most), _MOST_TIMES), 1)
        examples = [_examples(item) for item in inner]
        return ["".join(item[place] for item in examples) * times for place in (0, -1)]
    if name == "SUBPATTERN":
        return ["".join(_examples(item)[0] for item in value[3])]
    if name == "BRANCH":
        return ["".join(_examples(item)[0] for item in branch) for branch in value[1]]
    return [""]  # a place, or what was matched before


def _members(items: Sequence[Any]) -> list[str]:
    source = items
    negated = str(source[0][0]) == "NEGATE"

    def member(character: str) -> bool:
        for item in source:
            name, value = str(item[0]), item[1]
            if name == "LITERAL" and ord(character) == value:
                return True
            if name == "RANGE" and value[0] <= ord(character) <= value[1]:
                return True
            if name == "CATEGORY" and _in_category(str(value), character):
                return True
        return False

    found = [c for c in "a1 \t\n_#.:/'\"([{=-\\x" if member(c) != negated]
    found += [chr(v) for n, v in items if str(n) == "LITERAL" and not negated]
    return found or ["a"]


def _in_category(name: str, character: str) -> bool:
    kind = name.rpartition("_")[2]
    inside = {
        "DIGIT": character.isdigit(),
        "SPACE": character.isspace(),
        "WORD": character.isalnum() or character == "_",
    }[kind]
    return inside != ("NOT" in name)


def _other(allowed: Any) -> str:
    return next(c for c in "ab" if allowed(c))
