"""The sentences of findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fullgraph_compiler.facts import GuardFailure

from .markdown import code_span, filled
from .size_expressions import written_relation
from .source_names import written_name

_MOST_VALUES = 6
_WHOLE = {
    "BACKEND_MATCH": "the backend is another object",
    "TORCH_FUNCTION_MODE_STACK": "the torch function modes around the call are others",
    "DUPLICATE": "`{name}` and `{other}` are now the same tensor",
    "OBJECT_ALIASING": "`{name}` and `{other}` are no longer the same tensor",
}
"""Sentences for guards that do not compare one value with another."""
_LIMIT_HINT = (
    "Raise `torch._dynamo.config.{setting}` if this many versions of `{function}` are meant to exist."
)

KIND_NAMES = {
    "graph-break": ("graph break", "graph breaks"),
    "recompile": ("recompilation", "recompilations"),
    "late-compile": ("late compilation", "late compilations"),
    "recompile-limit": ("recompile limit hit", "recompile limits hit"),
    "compile-error": ("compile error", "compile errors"),
    "capture-error": ("capture error", "capture errors"),
    "accuracy": ("wrong result", "wrong results"),
    "skipped-frame": ("skipped frame", "skipped frames"),
    "rank-difference": ("difference between ranks", "differences between ranks"),
    "cudagraph-skip": ("skipped CUDA graph", "skipped CUDA graphs"),
    "perf-hint": ("performance hint", "performance hints"),
    "target-error": ("problem", "problems"),
}
"""The kinds of findings that are summed up, one and many."""


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun; ``many`` is the noun's plural, if that is not ``one`` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def first_line(text: str) -> str:
    """Return the first line of a message that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def recompile_message(failures: Sequence[GuardFailure]) -> str:
    """Write one sentence for the compilations that the same guard caused, in their order."""
    again = "recompiled" if len(failures) == 1 else f"recompiled {len(failures)} times"
    return f"{again}: {change(failures)}"


def what_changed(message: str) -> str:
    """Return the part of a recompilation message that does not depend on the number of recompilations."""
    return message.partition(": ")[2]


def change(failures: Sequence[GuardFailure]) -> str:
    """Write what changed between compilations, as the end of a sentence."""
    first = failures[0]
    if first.kind in _WHOLE:
        other = written_name(first.actual or first.expected)
        return filled(_WHOLE[first.kind], name=written_name(first.source), other=other)
    subject, reason = _subject(first), written_name(first_line(first.reason))
    if not subject:
        reason = written_relation(reason)
        held = f"{code_span(reason)} no longer holds" if first.expected else reason
        return held or "none of the earlier compilations fits"
    if not first.expected:
        return f"guard on {subject} failed: {reason}"
    expected = _distinct([_own(failure.expected) for failure in failures])
    actual = _distinct([_own(failure.actual) for failure in failures])
    if not all(actual):
        return f"{subject} is no longer {_listed(expected, 'or')}"
    if len(failures) == 1:
        return f"{subject} was {expected[0]}, is now {actual[0]}"
    return f"{subject} was {expected[0]}, then {_listed(actual, 'and')}"


def late_compilation_message(function: str, failures: Sequence[GuardFailure]) -> str:
    """Write that a call would have been compiled after the warm-up."""
    why = change(failures) if failures else "there is no compilation of it"
    return f"{code_span(function)} needs a compilation after the warm-up: {why}"


def limit_message(setting: str, limit: int, function: str, fatal: bool) -> str:
    """Write that a function was compiled too often; ``fatal`` where that stops the program."""
    name = code_span(function)
    outcome = f"{name} may not run eagerly" if fatal else f"new calls of {name} run eagerly from now on"
    return f"{setting.replace('_', ' ')} of {limit} reached: {outcome}"


def limit_explanation(failures: Sequence[GuardFailure]) -> str:
    """List the guards that kept a function from settling on one compilation, the most frequent first."""
    causes = by_cause(failures)
    if len(causes) == 1:
        return f"It was compiled again{_times(len(failures))} because {change(causes[0])}."
    lines = [f"It was compiled again{_times(len(cause))} because {change(cause)}." for cause in causes]
    return "\n".join(lines[:_MOST_VALUES])


def limit_hints(
    failures: Sequence[GuardFailure],
    hints_of: Callable[[GuardFailure], tuple[str, ...]],
    setting: str,
    function: str,
) -> tuple[str, ...]:
    """Advise on a function that is compiled too often, what helps most first."""
    causes = by_cause(failures)
    hints = _distinct([hint for cause in causes for hint in hints_of(cause[0])])
    if len(hints) > 1 and len(causes[0]) > 1:
        hints[0] = f"First, for {len(causes[0])} of {len(failures)} recompilations: {hints[0]}"
    return (*hints, filled(_LIMIT_HINT, setting=setting, function=function))


def by_cause(failures: Sequence[GuardFailure]) -> list[list[GuardFailure]]:
    """Group failures by the property of a guarded value, the most frequent first."""
    causes: dict[tuple[object, ...], list[GuardFailure]] = {}
    for failure in failures:
        key = (cause_of(failure), failure.kind, failure.changed, failure.dimension)
        causes.setdefault(key, []).append(failure)
    return sorted(causes.values(), key=len, reverse=True)


def cause_of(failure: GuardFailure) -> str:
    """Return the guarded value or the kind of a failure; reasons differ each time for a changed backend."""
    if failure.kind in _WHOLE and not failure.source:
        return failure.kind
    return failure.source or failure.reason.removesuffix(failure.expected)


def _times(number: int) -> str:
    return "" if number == 1 else f" {number} times"


def _own(value: str) -> str:
    return value.replace("__main__.", "")


def _subject(failure: GuardFailure) -> str:
    if failure.kind == "GLOBAL_STATE" and failure.expected:
        return failure.changed.replace("_", " ")
    if not failure.source:
        return ""
    name, changed = written_name(failure.source), failure.changed
    value = code_span(name) if name else "a value from before a graph break"
    place = "" if failure.dimension is None else f" at dimension {failure.dimension}"
    return f"{changed} of {value}{place}" if changed else value


def _distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _listed(values: Sequence[str], word: str) -> str:
    if len(values) > _MOST_VALUES:
        more = len(values) - _MOST_VALUES
        return f"{', '.join(values[:_MOST_VALUES])} and {counted(more, 'other value')}"
    if len(values) == 1:
        return values[0]
    return f"{', '.join(values[:-1])} {word} {values[-1]}"
