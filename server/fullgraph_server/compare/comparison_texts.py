"""The texts of a comparison of two reports, also as a Markdown document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..kinds import KINDS, FindingKind
from ..report.model import Finding
from ..text.markdown import code_span, escaped, fenced, link, table
from .comparison import AmountChange, FunctionChange, ReportComparison
from .fingerprint import FingerprintedFinding

_PARTS: Final = {
    "dynamo": "Dynamo",
    "aot": "AOTAutograd",
    "inductor": "TorchInductor",
    "build": "building kernels",
}
_MOST_STEPS = 8
_MOST_GRAPHS = 4
KEYS: Final = "Cache misses, by difference between the keys"
_LEAST_SECONDS = 0.05
"""The least difference in seconds that is shown: smaller differences are noise."""
_DEPTHS = "Kernels and times are not compared: one run went deeper than the other."


def sentence(comparison: ReportComparison) -> str:
    """Summarize a comparison: ``New: 1 graph break; gone: 2 failures - torch 2.13.0``."""
    parts = [f"new: {_kinds(comparison.new)}"] if comparison.new else []
    parts += [f"gone: {_kinds(comparison.gone)}"] if comparison.gone else []
    outcome = "; ".join(parts)
    seconds = comparison.seconds
    if not outcome and comparison.differs:
        outcome = "nothing is new, and nothing is gone"
    elif not outcome and seconds.difference:
        outcome = f"nothing differs but compile time: {seconds.before:.2f} s, then {seconds.after:.2f} s"
    before, after = comparison.torch
    versions = after if before == after else f"{before or 'unknown'}, then {after or 'unknown'}"
    outcome = outcome or "nothing differs"
    return outcome[0].upper() + outcome[1:] + (f" - torch {versions}" if versions else "")


def place(item: FingerprintedFinding) -> str:
    """Return a finding's place: ``model.py:12``, or its file if it has no line."""
    path = item.fingerprint.path
    return path if item.finding.of_run else f"{path}:{item.finding.span.row}"


def markdown(
    comparison: ReportComparison,
    link_to: Callable[[FingerprintedFinding], str] = lambda item: code_span(place(item)),
) -> str:
    """Render the comparison as Markdown, the summary first.

    ``link_to`` returns Markdown for the place of a finding.
    """
    blocks = [f"**{escaped(sentence(comparison))}**"]
    if comparison.new:
        blocks += ["### New", *(_new_item(item, link_to(item)) for item in comparison.new)]
    for title, lines in lists(comparison):
        items = "\n".join(f"- {link_to(item)} {escaped(words)}" for item, words in lines)
        blocks += [f"### {title}", items]
    if comparison.keys:
        blocks += [f"### {KEYS}", "\n".join(f"- {escaped(line)}" for line in keys(comparison))]
    for item in tables(comparison):
        rows = [(escaped(name), old, now, more) for name, old, now, more in item.rows]
        blocks += [f"### {escaped(item.title)}", table([("", *item.columns), *rows], "<>>>")]
    return "\n\n".join(blocks) + "\n"


# -- parts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AmountTable:
    """Table rows, each with a name, two amounts and their difference."""

    title: str
    rows: Sequence[tuple[str, str, str, str]]
    columns: tuple[str, str, str] = ("before", "after", "")


def _kinds(items: Iterable[FingerprintedFinding]) -> str:
    counts: Counter[FindingKind] = Counter()
    for item in items:
        counts[item.finding.kind] += item.finding.times
    return ", ".join(KINDS[kind].counted(count) for kind, count in counts.items())


def _words(item: FingerprintedFinding) -> str:
    return f"{item.finding.code} {item.finding.message}"


def _new_item(item: FingerprintedFinding, where: str) -> str:
    finding = item.finding
    code = link(finding.code, finding.url) if finding.url else escaped(finding.code)
    text = f"{where} {code} {escaped(finding.message)}"
    return "\n\n".join([text, fenced("python", item.fingerprint.line)] if item.fingerprint.line else [text])


def lists(comparison: ReportComparison) -> Iterator[tuple[str, list[tuple[FingerprintedFinding, str]]]]:
    """Yield the title and the items of each list of findings.

    An item is a finding with a line of text.
    """
    if comparison.gone:
        yield "Gone", [(item, _words(item)) for item in comparison.gone]
    if comparison.recounted:
        yield (
            "Different counts",
            [
                (now, f"{_words(now)}: in {_times(old.finding)}, then {now.finding.count}")
                for old, now in comparison.recounted
            ],
        )


def keys(comparison: ReportComparison) -> list[str]:
    """Return a line for each difference between cache keys, with the missed graphs."""
    return [
        f"{', '.join(labels[:_MOST_GRAPHS])}"
        + (f" and {len(labels) - _MOST_GRAPHS} more" if len(labels) > _MOST_GRAPHS else "")
        + f": {words}"
        for words, labels in comparison.keys
    ]


def _times(finding: Finding) -> str:
    return KINDS[finding.kind].seen_in(finding.count)


def tables(comparison: ReportComparison) -> Iterator[AmountTable]:
    """Yield the tables of amounts that differ, the totals first."""
    if not comparison.differs:
        return
    totals = [_row(amount) for amount in comparison.counts if amount.before or amount.after]
    if comparison.seconds.before or comparison.seconds.after:
        totals.append(_row(comparison.seconds, " s"))
    yield AmountTable(
        "Totals" if comparison.depth[0] == comparison.depth[1] else f"Totals. {_DEPTHS}", totals
    )
    for function in comparison.functions:
        if function.differs:
            yield _function_table(function)
    steps = [AmountChange(_PARTS[amount.name], amount.before, amount.after) for amount in comparison.parts]
    steps += comparison.phases[:_MOST_STEPS]
    changed = [_row(step, " s") for step in steps if abs(step.difference) >= _LEAST_SECONDS]
    if changed:
        yield AmountTable("Compile time by part and step", changed)


def _function_table(function: FunctionChange) -> AmountTable:
    amounts = [*function.counts]
    amounts += [AmountChange(f"recompiled: {item.name}", item.before, item.after) for item in function.causes]
    amounts += function.kernels
    ending = {(False, True): ", compiled now", (True, False): ", no longer compiled"}
    title = f"{function.path} {function.name}{ending.get(function.compiled, '')}"
    return AmountTable(title, [_row(amount) for amount in amounts if amount.difference])


def _row(amount: AmountChange, unit: str = "") -> tuple[str, str, str, str]:
    form = ".2f" if unit else ","
    difference = f"{amount.difference:+{form}}{unit}" if amount.difference else ""
    return amount.name, f"{amount.before:{form}}{unit}", f"{amount.after:{form}}{unit}", difference
