"""Parsers of torch's texts about exports: exceptions, and ranges of sizes.

torch prints the ranges below a program. The messages are those of
``torch/fx/experimental/symbolic_shapes.py``, ``torch/_library`` and ``torch/_subclasses/fake_tensor.py`` in
2.11 to 2.15.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ...facts import SizeRange, SizeViolation, Symbol
from ..graphs import parse_shapes
from ..messages import Source, no_source, parse_frames

_RANGE: Final = re.compile(r"\b(\w+): VR\[([^,\[\]]+), ([^,\[\]]+)\]")
_DATA: Final = "data-dependent expression "
_UNHINTED: Final = " (unhinted: "
_NO_KERNEL: Final = (
    re.compile(r"no fake impl registered for <CustomOpDef\(([\w:.]+)\)>"),
    re.compile(r"\b(\w+::[\w.]+): attempted to run this operator with Meta tensors"),
)
_UNSUPPORTED: Final = "UnsupportedOperatorException"
"""The error whose message consists only of the name of the operator."""
_FAILING: Final = re.compile(
    r"^Error in op: torch\.ops\.(?P<operator>\S+)\n(?P<said>[^\n]*fake[^\n]*)", re.MULTILINE
)
_ASSIGNED: Final = re.compile(r"^The tensor attributes? (?P<names>.+) (?:was|were) assigned during export\.")
_SPECIALIZED: Final = " as dynamic but your code specialized it to be a constant ("
_REFUTED: Final = " satisfy the generated guard "
_INFERRED: Final = " was inferred to be equal to "
_RELATED: Final = " must always be equal"
_FIXES: Final = "Suggested fixes:"
_VIOLATION: Final = re.compile(r"^ *- (?=You marked |Not all values of |The values of )")
_ADVICE: Final = " If you're using "
"""The beginning of torch's advice after a sentence about a dimension, equal for exports and compilations."""
_MARKED_AT: Final = "User stack:"


def parse_undecided(message: str) -> str:
    """Return the condition that an export could not decide.

    Return an empty string if the message is not about a condition.
    """
    expression, end, _ = message.partition(_DATA)[2].partition(_UNHINTED)
    return expression if end else ""


def parse_unknown_operator(error: str, message: str) -> str:
    """Return the operator that has no fake kernel.

    Return an empty string for any other error.
    """
    if error == _UNSUPPORTED:
        return schema(message.partition("\n")[0])
    found = next(filter(None, (pattern.search(message) for pattern in _NO_KERNEL)), None)
    return schema(found[1]) if found else ""


def parse_assigned(warning: str) -> tuple[str, ...]:
    """Return the attributes to which a program assigns tensors.

    Examples are ``self.last`` and ``self.cache[0]``.
    """
    found = _ASSIGNED.match(warning)
    return tuple(found["names"].split(", ")) if found else ()


def parse_failing_operator(message: str) -> tuple[str, str]:
    """Return an operator whose result differs from its fake kernel's, and why.

    The second string is torch's explanation. Both are empty if the message is about something else.
    ``assert_size_stride``, which TorchInductor's code calls, raises with this message
    (``torch/csrc/dynamo/guards.cpp``).
    """
    found = _FAILING.search(message)
    return (schema(found["operator"]), found["said"].strip()) if found else ("", "")


def schema(operator: str) -> str:
    """Return the registered name of an operator.

    An example is ``mylib::twice`` for ``mylib.twice.default``.
    """
    namespace, _, name = operator.replace("::", ".").partition(".")
    return f"{namespace}::{name.removesuffix('.default')}"


def parse_ranges(text: str) -> Iterator[SizeRange]:
    """Yield the ranges of sizes that torch prints below a program.

    The sources of the symbols are derived from the inputs of the program.
    """
    sources: dict[str, str] = {}
    for name, shape in parse_shapes(text):
        for dimension, size in enumerate(shape):
            sources.setdefault(size, f"L['{name}'].size()[{dimension}]")
    _, _, written = text.rpartition("Range constraints:")
    for name, lower, upper in _RANGE.findall(written):
        yield SizeRange(Symbol(name, sources.get(name, ""), None), lower, upper)


def parse_violations(message: str, source: Source = no_source) -> Iterator[SizeViolation]:
    """Yield the dimensions that cannot be dynamic, with the stack that torch prints."""
    lines = message.splitlines()
    starts = [number for number, line in enumerate(lines) if _VIOLATION.match(line)]
    for start, end in itertools.pairwise((*starts, len(lines))):
        violation = _violation(lines[start].strip())
        if violation is not None:
            stack = parse_frames(lines[start + 1 : end], source) if _MARKED_AT in lines[start:end] else ()
            yield replace(violation, stack=stack)


def _violation(line: str) -> SizeViolation | None:
    """Read a sentence about a dimension (``produce_guards``, ``symbolic_shapes.py``)."""
    text = _VIOLATION.sub("", line)
    said = text.partition(_ADVICE)[0]
    before, _, after = text.partition(_SPECIALIZED)
    if after:
        name, value = before.removeprefix("You marked "), after.partition(")")[0]
        is_source = "[" in name
        return SizeViolation("" if is_source else name, name if is_source else "", value=value, text=said)
    before, _, after = text.partition(_REFUTED)
    if after:
        name, source = _named(before.removeprefix("Not all values of "))
        return SizeViolation(name, source, condition=after.removesuffix("."), text=said)
    before, _, equal = text.partition(_INFERRED)
    if equal:
        name, source = _named(before.removeprefix("Not all values of "))
        return SizeViolation(name, source, condition=f"{source} == {equal.removesuffix('.')}", text=said)
    before, related, _ = text.partition(_RELATED)
    if related:
        one, _, other = before.removeprefix("The values of ").partition(" and ")
        (name, source), (_, equal) = _named(one), _named(other)
        return SizeViolation(name, source, condition=f"{source} == {equal}", text=said)
    return None


def _named(text: str) -> tuple[str, str]:
    """Return the name of a dimension, which may be empty, and the source of its size.

    The text is, for example, ``batch = L['x'].size()[0] in the ...``.
    """
    name, source = "", ""
    words = text.split()
    if words:
        name = words[0]
        source = words[2] if words[1:2] == ["="] and len(words) > 2 else name
    return "" if name == source else name, source


def parse_suggestions(message: str) -> tuple[str, ...]:
    """Return the lines of code that torch suggests."""
    _, _, fixes = message.partition(f"{_FIXES}\n")
    lines = []
    for line in fixes.splitlines():
        if not line.startswith("  "):
            break
        lines.append(line.strip())
    return tuple(lines)
