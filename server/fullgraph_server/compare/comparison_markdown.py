"""The words of a comparison of two reports; and the whole as Markdown, for an editor or a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..text.markdown import code_span, escaped, fenced, link, table
from ..text.messages import KIND_NAMES, counted
from .comparison import Amount, Comparison, FunctionChange
from .fingerprint import Fingerprinted

_PARTS: Final = {
    "dynamo": "Dynamo",
    "aot": "AOTAutograd",
    "inductor": "TorchInductor",
    "build": "building kernels",
}
_MOST_STEPS = 8
_LEAST_SECONDS = 0.05
"""A difference of times that is worth a line: less than that differs by itself."""
_DEPTHS = "Kernels and times are not compared: one run went deeper than the other."


def sentence(comparison: Comparison) -> str:
    """What the comparison comes to: ``New: 1 graph break; gone: 2 recompilations - torch 2.13.0``."""
    parts = [f"new: {_kinds(comparison.new)}"] if comparison.new else []
    parts += [f"gone: {_kinds(comparison.gone)}"] if comparison.gone else []
    told = "; ".join(parts)
    seconds = comparison.seconds
    if not told and comparison.differs:
        told = "nothing is new, and nothing is gone"
    elif not told and seconds.difference:
        told = f"nothing differs but compile time: {seconds.before:.2f} s, then {seconds.after:.2f} s"
    before, after = comparison.torch
    versions = after if before == after else f"{before or 'unknown'}, then {after or 'unknown'}"
    told = told or "nothing differs"
    return told[0].upper() + told[1:] + (f" - torch {versions}" if versions else "")


def place(item: Fingerprinted) -> str:
    """Where a finding is: ``model.py:12``; the file alone, for one of the run."""
    path = item.fingerprint.path
    return path if item.finding.of_run else f"{path}:{item.finding.span.row}"


def markdown(
    comparison: Comparison,
    link_to: Callable[[Fingerprinted], str] = lambda item: code_span(place(item)),
) -> str:
    """The comparison as a document, the outcome first. ``link_to`` writes the place of a finding."""
    blocks = [f"**{escaped(sentence(comparison))}**"]
    if comparison.new:
        blocks += ["### New", *(_new_item(item, link_to(item)) for item in comparison.new)]
    for title, lines in lists(comparison):
        items = "\n".join(f"- {link_to(item)} {escaped(words)}" for item, words in lines)
        blocks += [f"### {title}", items]
    for item in tables(comparison):
        rows = [(escaped(name), old, now, more) for name, old, now, more in item.rows]
        blocks += [f"### {escaped(item.title)}", table([("", *item.columns), *rows], "<>>>")]
    return "\n\n".join(blocks) + "\n"


# -- parts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    rows: Sequence[tuple[str, str, str, str]]
    columns: tuple[str, str, str] = ("before", "after", "")


def _kinds(items: Iterable[Fingerprinted]) -> str:
    counts = Counter(item.finding.kind for item in items)
    return ", ".join(counted(count, *KIND_NAMES[kind]) for kind, count in counts.items())


def _words(item: Fingerprinted) -> str:
    return f"{item.finding.code} {item.finding.message}"


def _new_item(item: Fingerprinted, where: str) -> str:
    finding = item.finding
    code = link(finding.code, finding.url) if finding.url else escaped(finding.code)
    told = f"{where} {code} {escaped(finding.message)}"
    return "\n\n".join([told, fenced("python", item.fingerprint.line)] if item.fingerprint.line else [told])


def lists(comparison: Comparison) -> Iterator[tuple[str, list[tuple[Fingerprinted, str]]]]:
    """Findings that take a line each, under their titles, with the words."""
    if comparison.gone:
        yield "Gone", [(item, _words(item)) for item in comparison.gone]
    if comparison.recounted:
        yield (
            "Seen more often, or less",
            [
                (now, f"{_words(now)}: in {_times(now, old.finding.count)}, then {now.finding.count}")
                for old, now in comparison.recounted
            ],
        )


def _times(item: Fingerprinted, count: int) -> str:
    noun = "call" if item.finding.kind == "late-compile" else "compilation"
    return counted(count, noun)


def tables(comparison: Comparison) -> Iterator[Table]:
    if not comparison.differs:
        return
    totals = [_row(amount) for amount in comparison.counts if amount.before or amount.after]
    if comparison.seconds.before or comparison.seconds.after:
        totals.append(_row(comparison.seconds, " s"))
    yield Table("In all" if comparison.depth[0] == comparison.depth[1] else f"In all. {_DEPTHS}", totals)
    for function in comparison.functions:
        if function.differs:
            yield _function_table(function)
    steps = [Amount(_PARTS[amount.name], amount.before, amount.after) for amount in comparison.parts]
    steps += comparison.phases[:_MOST_STEPS]
    changed = [_row(step, " s") for step in steps if abs(step.difference) >= _LEAST_SECONDS]
    if changed:
        yield Table("Compile time by part and step", changed)


def _function_table(function: FunctionChange) -> Table:
    amounts = [*function.counts]
    amounts += [Amount(f"recompiled: {item.name}", item.before, item.after) for item in function.causes]
    amounts += function.kernels
    ending = {(False, True): ", compiled now", (True, False): ", no longer compiled"}
    title = f"{function.path} {function.name}{ending.get(function.compiled, '')}"
    return Table(title, [_row(amount) for amount in amounts if amount.difference])


def _row(amount: Amount, unit: str = "") -> tuple[str, str, str, str]:
    form = ".2f" if unit else ","
    difference = f"{amount.difference:+{form}}{unit}" if amount.difference else ""
    return amount.name, f"{amount.before:{form}}{unit}", f"{amount.after:{form}}{unit}", difference
