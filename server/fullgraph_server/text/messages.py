"""The titles, explanations and advice of findings, as sentences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from fullgraph_compiler.facts import CallsWithoutGraph, GuardFailure, Status
from fullgraph_compiler.trace.guards import METADATA
from fullgraph_compiler.trace.reasons import FREED

from .advice import past_limit
from .markdown import code_span, filled
from .remedies import Advice, advice_on_all, introduced
from .size_expressions import readable_condition
from .source_names import freed_object, written_name
from .tensor_advice import SPECIALIZED

_NO_REASON = "none of the earlier compilations fits"
_MOST_VALUES = 6
_SHORT = 200
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z`])")
_CODE = re.compile(r"[=<>(]|\b_|torch\.| is ")
_WHOLE = {
    "BACKEND_MATCH": "the backend is a different object",
    "TORCH_FUNCTION_MODE_STACK": "the torch function modes around the call changed",
    "DUPLICATE": "`{name}` and `{other}` are now the same tensor",
    "OBJECT_ALIASING": "`{name}` and `{other}` are no longer the same object",
    "DEFAULT_DEVICE": "the default device changed",
    "DIMENSION_DYNAMIC_MARKING_GUARD": "a tensor's sizes are marked as dynamic or static differently",
}
"""Clauses for guards that do not compare a value with an expected value."""
_UNNAMED = {
    "DUPLICATE": "two values, at least one without a name here, are now the same tensor",
    "OBJECT_ALIASING": "two values, at least one without a name here, are no longer the same object",
}
"""Clauses for values that have no name in the code, such as values from before a graph break."""
_SAME_TENSOR = "the same tensor as another value"
_ASKED = {
    "DICT_CONTAINS": "has the keys that are looked up, or lacks them, as before",
    "SET_CONTAINS": "has the items that are looked up, or lacks them, as before",
    "HASATTR": "has the attributes that are looked up, or lacks them, as before",
    "NO_HASATTR": "has the attributes that are looked up, or lacks them, as before",
    "DICT_LENGTH": "empty",
    "LENGTH_CHECK": "empty",
    "NO_TENSOR_ALIASING": "not the same tensor as another value",
    "DUPLICATE_INPUT": _SAME_TENSOR,
    "OBJECT_ALIASING": _SAME_TENSOR,
    "RANGE_ITERATOR_MATCH": "the same range",
}
"""What a guard without an expected value requires; only torch's check says which keys or items."""
_VALUES = ("EQUALS_MATCH", "CONSTANT_MATCH", "BOOL_MATCH", "TRUE_MATCH", "FALSE_MATCH")
"""Kinds of guards that compare a value with a constant."""
_OPERATOR = re.compile(r"(?:is|in|not) |[!<>=]=|[<>]")
_MEMBERS = {"DICT_CONTAINS": "key", "SET_CONTAINS": "item", "HASATTR": "attribute", "NO_HASATTR": "attribute"}
"""The noun for the member that a value has or lacks, by the kind of the guard."""
_WITH = re.compile(r"(with|without) (.+)", re.DOTALL)
_NO_ATTRIBUTE = re.compile(r"'\w+' object has no attribute '\w+'")
"""Python's message if the evaluation of a guard fails; it need not be about a value of the program."""
_ONE_KIND = {
    SPECIALIZED: "TENSOR_MATCH",
    "TRUE_MATCH": "BOOL_MATCH",
    "FALSE_MATCH": "BOOL_MATCH",
    "LAMBDA_GUARD": "EQUALS_MATCH",  # on a number that the code needs, after torch made it dynamic
}
"""Kinds of guards that check the same property, mapped to one of them.

Which kind torch uses depends on the first value.
"""
_LIMIT_HINT = (
    "Raise `torch._dynamo.config.{setting}` if this many versions of `{function}` are meant to exist."
)

REMOVE_BREAK = (
    "Remove the graph break on {line}: this value is only guarded because the code after that break is "
    "compiled separately."
)
WANTS_ARGUMENTS = (
    "If it wants other arguments: `Analyze with Arguments…` in the editor, "
    "`fullgraph check FILE -- ARGUMENTS` on the command line, or `args` of a target in pyproject.toml."
)


ENDINGS: Final[Mapping[Status, str]] = {
    "raised": "raised an exception",
    "crashed": "crashed",
    "timeout": "stopped at its time limit",
    "memory": "used too much memory",
    "cancelled": "stopped",
    "not-started": "could not start",
}
"""Phrases for how the run of a program ended; there is none for an ordinary end."""


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun; ``many`` is the plural, by default with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def first_line(text: str) -> str:
    """Return the first line of a message that is not blank; empty if there is none."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def brief(text: str) -> str:
    """Return the first sentence of a text, and the next ones that fit on a short line."""
    first, *others = _SENTENCE_END.split(first_line(text))
    for sentence in others:
        if len(first) + len(sentence) >= _SHORT:
            break
        first = f"{first} {sentence}"
    return first


def with_reason(reason: str, explanation: str) -> str:
    """Put torch's short reason for a graph break before torch's explanation.

    The reason is left out if the explanation contains it.
    """
    if reason.lower() in explanation.lower():
        return explanation
    return f"{reason.rstrip('.')}. {explanation}" if explanation else reason


def runs_eagerly(function: str, *, resumed: bool) -> str:
    """Write that a function, or the rest of it after a graph break, runs eagerly."""
    return f"the {'rest' if resumed else 'whole'} of {code_span(function)} runs eagerly"


def likewise(sources: Sequence[str], own: str, functions: Sequence[str]) -> str:
    """Write the end of a message: the other values that changed in the same way.

    ``own`` is the source of the message's value, ``sources`` are those of the other values, and ``functions``
    the functions in which the other values changed; the name of a resume function is empty.
    """
    if not sources:
        return ""
    name, *names = (_named(source) for source in (own, *sources))
    if {*names} == {name} and len({*functions}) == 1:
        return f"; likewise in {code_span(functions[0]) if functions[0] else 'the code behind a graph break'}"
    if len(names) == 1 and names[0] != name:
        return f"; likewise {names[0]}"
    return f"; likewise {counted(len(names), 'other value')}"


def alike(values: Sequence[tuple[str, str]]) -> str:
    """Write a sentence on values that changed in the same way; empty for no values.

    ``values`` are pairs of a source and a place.
    """
    shown = [f"{_named(source)} ({place})" for source, place in values[:_MOST_VALUES]]
    more = f", and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
    return f"Likewise: {', '.join(shown)}{more}." if shown else ""


def what_changed(message: str) -> str:
    """Return a recompilation's message without the number of recompilations."""
    return message.partition(": ")[2]


def change(failures: Sequence[GuardFailure]) -> str:
    """Write what changed between compilations, as the end of a sentence."""
    first = failures[0]
    if first.kind == "GLOBAL_STATE":
        return ", and ".join(_state(flag) for flag in zip(*map(_flags, failures), strict=True))
    if first.kind in _WHOLE:
        name, other = written_name(first.source), written_name(first.actual or first.expected)
        sentence = _WHOLE[first.kind] if name and other else _UNNAMED.get(first.kind, _WHOLE[first.kind])
        return filled(sentence, name=name, other=other)
    subject = _subject(first)
    if first.kind == FREED:
        return f"{subject} was another {freed_object(first.expected)}, which has been freed"
    if not subject:
        condition = readable_condition(written_name(first_line(first.reason)))
        held = f"{code_span(condition)} no longer holds" if condition else ""
        return held or _torchs_words(first_line(first.reason)) or _NO_REASON
    if not first.expected:
        return f"{subject} changed" if first.changed else f"a guard on {subject} failed"
    expected, actual = [_own(each.expected) for each in failures], [_own(each.actual) for each in failures]
    if not all(actual):
        return f"{subject} is no longer {_listed(_distinct(expected), 'or')}"
    if first.kind in _MEMBERS and (words := _members(subject, _MEMBERS[first.kind], actual)):
        return words
    return _was_and_is(subject, expected, actual)


def is_unevaluated(reason: str) -> bool:
    """Return whether a reason is Python's error for a guard that cannot be evaluated.

    Such a reason does not name the cause.
    """
    return bool(_NO_ATTRIBUTE.fullmatch(first_line(reason)))


def _torchs_words(reason: str) -> str:
    """Quote torch's reason if it is a sentence or an error; empty if it is code."""
    if is_unevaluated(reason):
        return f"torch failed to evaluate a guard: {code_span(reason)}"
    is_sentence = " " in reason and not _CODE.search(reason)
    return f"torch says {code_span(reason)}" if is_sentence and len(reason) < _SHORT else ""


def guard_words(kind: str, expected: str, source: str) -> str:
    """Write what a guard requires of a value; if unknown, torch's name for the guard."""
    if kind == "DIMENSION_DYNAMIC_MARKING_GUARD":
        return "the same sizes marked as dynamic or static"
    if kind == METADATA:
        return f"metadata {expected}" if expected else "the same metadata"
    words = expected or _ASKED.get(kind) or code_span(kind)
    if source.startswith("list(dict.keys(") and expected:
        return f"has the key {expected}"
    if source.endswith("._modules"):
        return f"its modules: {words}"
    is_value = kind in _VALUES or (kind == "ID_MATCH" and not expected.startswith("the same "))
    return f"is {words}" if is_value and expected and not _OPERATOR.match(expected) else words


def _was_and_is(subject: str, expected: Sequence[str], actual: Sequence[str]) -> str:
    if {*actual} == {*expected} and len({*actual}) == 1:
        return f"{subject} was {expected[0]}, is now a different object with that name"
    if len({*actual}) == 1:
        return f"{subject} was {expected[0]}, is now {actual[0]}"
    return f"{subject} was {expected[0]}, then {_listed(_distinct(actual), 'and')}"


def _members(subject: str, noun: str, actual: Sequence[str]) -> str:
    """Write which members a value gained or lost; empty if they are unknown."""
    found = [_WITH.fullmatch(each) for each in _distinct(actual)]
    pairs = [(each[1] == "with", each[2]) for each in found if each]
    if len(pairs) < len(found):
        return ""
    if len(pairs) == 1:
        ((has, member),) = pairs
        return (
            f"{subject} {'lacked' if has else 'had'} the {noun} {member}, now {'has' if has else 'lacks'} it"
        )
    more = f" and {counted(len(pairs) - _MOST_VALUES, 'other')}" if len(pairs) > _MOST_VALUES else ""
    parts: list[str] = []
    for (had, _), (has, member) in itertools.pairwise([(None, ""), *pairs[:_MOST_VALUES]]):
        parts.append(member if had == has else f"{member} is {'new' if has else 'missing'}")
    return f"the {noun}s of {subject} changed: {', then '.join(parts)}{more}"


def without_graph_message(fact: CallsWithoutGraph) -> str:
    """Write that no graph was captured, for one function or for the whole program."""
    if fact.function and not fact.calls:
        return f"{code_span(fact.function)} was compiled, but the program never called the compiled version"
    if fact.function:
        counts = f"no graph was captured in {counted(fact.calls, 'call')} of {code_span(fact.function)}"
        return f"{counts}: it runs eagerly" + (f", since {code_span(fact.off)} is set" if fact.off else "")
    if fact.elsewhere:
        return "nothing was compiled in the process that was observed"
    if fact.off:
        return f"nothing was compiled: {code_span(fact.off)} turns compiling off"
    return "nothing was compiled: the program called no compiled function"


UNCALLED = (
    "Compiled code runs if you call the object that `torch.compile` returns, or the module itself, "
    "`module(...)`. The original function, and other methods of a module, run uncompiled."
)


def went_on(explanation: str) -> str:
    """Add "The program went on" to the first paragraph of an error's explanation."""
    first, gap, rest = explanation.partition("\n\n")
    return f"{first} The program went on after this error.".lstrip() + gap + rest


def changed_with(together: Sequence[Sequence[GuardFailure]]) -> str:
    """Write what changed together with a recompilation's cause; empty for nothing."""
    changes = [change(failures) for failures in together[:_MOST_VALUES]]
    more = (
        f"; and {counted(len(together) - _MOST_VALUES, 'other value')}"
        if len(together) > _MOST_VALUES
        else ""
    )
    return f"Changed with it: {'; '.join(changes)}{more}." if changes else ""


def other_failures(failures: Sequence[GuardFailure]) -> str:
    """Write which guards of other compilations failed in a call; empty for none."""
    named = [failure for failure in failures if not is_unevaluated(failure.reason)]
    found = (change(cause) for cause in _by_cause(named)[:_MOST_VALUES])
    changes = [text for text in found if text != _NO_REASON]
    return f"Other compilations did not fit either: {'; '.join(changes)}." if changes else ""


def limit_explanation(again: Sequence[GuardFailure], last: Sequence[GuardFailure]) -> str:
    """List the causes of a function's recompilations, the most frequent first.

    ``last`` are the guards that failed in the call that hit the recompile limit; they come at the end.
    """
    causes = _by_cause(again)[:_MOST_VALUES]
    lines = [f"It was compiled again{_times(len(cause))} because {change(cause)}." for cause in causes]
    if last:
        lines.append(f"No compilation fits the call that hit the limit: {change(last)}.")
    return "\n".join(lines)


def limit_advice(
    failures: Sequence[GuardFailure],
    advice_on: Callable[[GuardFailure], tuple[Advice, ...]],
    setting: str,
    function: str,
    together: Sequence[Sequence[GuardFailure]] = (),
) -> tuple[Advice, ...]:
    """Advise on a function that hit the recompile limit, most helpful advice first.

    ``together`` are the changes that occurred together with the most frequent cause.
    """
    causes = _by_cause(failures)
    given = list(dict.fromkeys(item for cause in causes for item in advice_on(cause[0])))
    if len(given) > 1 and 1 < len(causes[0]) < len(failures):
        given[0] = introduced(f"First, for {len(causes[0])} of {len(failures)} recompilations: ", given[0])
    given = past_limit(advice_on_all(given, together, advice_on))
    return (*given, Advice(filled(_LIMIT_HINT, setting=setting, function=function)))


def _by_cause(failures: Sequence[GuardFailure]) -> list[list[GuardFailure]]:
    """Group failures by the guarded property, the most frequent property first."""
    causes: dict[tuple[object, ...], list[GuardFailure]] = {}
    for failure in failures:
        causes.setdefault(cause_of(failure), []).append(failure)
    return sorted(causes.values(), key=len, reverse=True)


def cause_of(failure: GuardFailure) -> tuple[object, ...]:
    """Return a key that is equal for all failures of guards on the same property."""
    kind = _ONE_KIND.get(failure.kind, failure.kind)
    if failure.kind in _WHOLE and not failure.source:
        return (kind,)  # reasons differ each time, for a changed backend
    value = failure.source or failure.reason.removesuffix(failure.expected)
    return (value, kind, failure.changed, failure.dimension)


def _times(number: int) -> str:
    return "" if number == 1 else f" {number} times"


def _own(value: str) -> str:
    return value.replace("__main__.", "")


def _flags(failure: GuardFailure) -> list[tuple[str, str, str]]:
    """Return each changed part of the global state: name, old value, new value.

    An unknown value is empty.
    """
    flags = failure.changed.split()
    values = [
        value.split(", ") if value else [""] * len(flags) for value in (failure.expected, failure.actual)
    ]
    return list(zip(flags, *values, strict=True))


def _state(changes: Sequence[tuple[str, str, str]]) -> str:
    """Write how one part of the global state changed in several recompilations."""
    names, expected, actual = zip(*changes, strict=True)
    name = names[0].replace("_", " ")
    return _was_and_is(name, expected, actual) if all(expected) and all(actual) else f"{name} changed"


def _subject(failure: GuardFailure) -> str:
    if not failure.source:
        return ""
    changed, value = failure.changed, _named(failure.source)
    place = "" if failure.dimension is None else f" at dimension {failure.dimension}"
    return f"{changed} of {value}{place}" if changed else value


def _named(source: str) -> str:
    """Name a guarded value as the user wrote it, or describe a value without a name."""
    name = written_name(source)
    return code_span(name) if name else "a value from before a graph break"


def _distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _listed(values: Sequence[str], word: str) -> str:
    if len(values) > _MOST_VALUES:
        more = len(values) - _MOST_VALUES
        return f"{', '.join(values[:_MOST_VALUES])} and {counted(more, 'other value')}"
    if len(values) == 1:
        return values[0]
    return f"{', '.join(values[:-1])} {word} {values[-1]}"
