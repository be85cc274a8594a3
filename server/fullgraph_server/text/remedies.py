"""Remedies against recompilations as data, for sentences of advice and for edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from fullgraph_compiler.facts import GuardFailure

from .markdown import code_span, filled
from .source_names import written_name

_MOST_TOGETHER: Final = 3
"""The largest number of values for which :func:`advice_on_all` adds advice."""
RemedyKind: TypeAlias = Literal[
    "mark",
    "mark-unbacked",
    "dynamic",
    "setting",
    "convert",
    "one-layout",
    "one-rank",
    "one-class",
    "number-as-tensor",
    "tensor-learning-rate",
    "drop-last",
    "neutral-tensor",
    "same-keys",
    "member",
    "stack",
    "whole-tensor",
    "make-once",
    "set-earlier",
    "assign-earlier",
    "same-modes",
]


@dataclass(frozen=True, slots=True)
class Remedy:
    """One change of the program, with its code, as in ``mark_dynamic(x, 0)``.

    ``setting`` is an assignment that the remedy needs in addition, or empty.
    """

    kind: RemedyKind
    code: tuple[str, ...] = ()
    setting: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence on what to do, with the remedies that the sentence names, in order.

    ``remedies`` is empty if no edit is known. If each remedy alone is enough, ``apart`` has a sentence for
    each remedy. ``helps`` says that Fullgraph ran the program with the advice and the advice helped.
    ``explains`` says that the sentence explains the finding and asks for no change.
    """

    sentence: str
    remedies: tuple[Remedy, ...] = ()
    apart: tuple[str, ...] = ()
    explains: bool = False
    helps: bool = False

    @property
    def told(self) -> str:
        """The sentence, with a note if Fullgraph did not try the advice."""
        return self.sentence if self.explains or self.helps else f"{self.sentence} {NOT_TRIED}"


NOT_TRIED: Final = "(Not tried.)"
"""The note after advice that Fullgraph did not try in a run of the program."""


def left_of(given: Advice, left: Sequence[Remedy]) -> list[Advice]:
    """Reduce advice to the remedies ``left``, if each remedy has its own sentence.

    Advice whose remedies share one sentence is returned unchanged.
    """
    if not given.apart or len(left) == len(given.remedies):
        return [given]
    pairs = zip(given.apart, given.remedies, strict=True)
    return [
        replace(given, sentence=words, remedies=(item,), apart=()) for words, item in pairs if item in left
    ]


def advised(template: str, remedy: Remedy, **values: str) -> Advice:
    """Fill a template of advice: ``{code}`` and ``{setting}`` come from the remedy."""
    code = remedy.code[0] if remedy.code else ""
    return Advice(filled(template, code=code, setting=remedy.setting, **values), (remedy,))


def sentences(given: Iterable[Advice]) -> tuple[str, ...]:
    """Return the sentences of several pieces of advice, with notes on untried advice."""
    return tuple(item.told for item in given)


def is_mended_by_dynamic(given: Sequence[Remedy]) -> bool:
    """Return whether dynamic sizes or numbers are enough, without another change."""
    return Remedy("dynamic") in given and Remedy("whole-tensor") not in given


def introduced(words: str, given: Advice) -> Advice:
    """Put an introduction before each sentence of a piece of advice."""
    apart = tuple(f"{words}{sentence}" for sentence in given.apart)
    return replace(given, sentence=f"{words}{given.sentence}", apart=apart)


def advice_on_all(
    given: Sequence[Advice],
    together: Sequence[Sequence[GuardFailure]],
    advice_on: Callable[[GuardFailure], tuple[Advice, ...]],
) -> tuple[Advice, ...]:
    """Add advice on the values that change together with the advised value.

    Otherwise their guards would fail after the advice is followed.
    """
    every = list(given)
    for failure in (same[0] for same in together[:_MOST_TOGETHER]):
        done = {remedy for item in every for remedy in item.remedies}
        words = f"For {code_span(written_name(failure.source))}{', too' if every else ''}: "
        said = {item.sentence for item in every}
        new = [
            item
            for item in advice_on(failure)
            if item.sentence not in said and not (item.remedies and done.issuperset(item.remedies))
        ]
        every += [introduced(words, item) for item in new]
    return tuple(every)
