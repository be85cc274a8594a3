"""Answers to differences between compiled and uncompiled calls: cause and advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fullgraph_compiler.facts import Cause, Evidence, Failure, StackFrame

from ...text.markdown import code_span
from ...text.messages import first_line
from ...workspace.source import SourceFile
from .words import FindingAnswer, row_of
from .wrapped import wrapper_answer

_LONGEST: Final = 60
_UNGUARDED: Final = "torch has no guard on it"
_ALIKE: Final = "a graph is reused for a call that it does not fit"
_SUBSTITUTES: Final = {
    "fix": "`np.trunc(x)` is the same as `np.fix(x)`, and is translated correctly.",
    "cbrt": "`np.sign(x) * np.abs(x) ** (1 / 3)` is the same as `np.cbrt(x)` but for rounding.",
    "clip": "Give `np.clip` bounds that fit the type of the array.",
}
_RESET: Final = "Call `torch.compiler.reset()` before that call (tried)."
_EAGERLY: Final = "Keep the function out of the compiled code: `@torch.compiler.disable`."
_AS_ARGUMENT: Final = "Decide it outside of the compiled function, and pass the outcome as an argument."
_AUTOCAST: Final = "Give `torch.autocast` its `dtype` in the compiled function, from an argument."
_SET_BEFORE: Final = "Set it before the first call, and do not change it afterwards."
_HOOK_GUARDS: Final = "torch._dynamo.config.skip_nnmodule_hook_guards"
_READ_OUTSIDE: Final = ("environ", "getenv", "time", "random", "now(", "uuid")
"""Parts of code that reads a value from outside of the program."""


def cause_answer(
    cause: Cause, failure: Failure, source: Callable[[str], SourceFile | None], *, whole: bool
) -> FindingAnswer:
    """Return the answer to a difference whose cause is known: title, note and hints.

    ``whole`` says that the difference occurs only with the program's own backend.
    """
    if cause.kind == "wrapped":
        return wrapper_answer(cause, failure, source)
    words = _CauseWords(cause, source)
    title = _title(words)
    difference = first_line(failure.message).rstrip(".")
    if cause.kind in _NOT_REUSED:
        return FindingAnswer(
            note=f"{words.note()}The difference: {difference}.", hints=words.hints(), title=title
        )
    calls = "each call" if failure.error == "Output" else "that call"
    without = ", without caches," if whole else ""
    again = f"With {calls} compiled anew{without} the program matches the uncompiled one"
    hints = words.hints()
    if not whole:
        hints = _or(*hints, _RESET)
    return FindingAnswer(
        note=f"{words.note()}The difference: {difference}. {again}.", hints=hints, title=title
    )


def _or(*hints: str) -> tuple[str, ...]:
    """Put "Or" before the last hint if there are several."""
    *first, last = hints
    return (*first, f"Or {last[0].lower()}{last[1:]}") if first else (last,)


class _CauseWords:
    """A writer of sentences about one cause."""

    def __init__(self, cause: Cause, source: Callable[[str], SourceFile | None]) -> None:
        self.cause = cause
        self._source = source
        self.first = cause.evidence[0] if cause.evidence else Evidence("", "", "")
        self.function = code_span(cause.function) if cause.function else "the function"
        self.call = f"call {cause.call} of {self.function}"

    def code(self, evidence: Evidence) -> str:
        """Return the source of the code that evidence is about.

        Return an empty string if its columns are unknown, or the source is long or has several lines.
        """
        frame = evidence.stack[-1] if evidence.stack else None
        source = self._source(frame.filename) if frame is not None else None
        if frame is None or source is None or frame.column is None or frame.row != frame.end_row:
            return ""
        line = source.line(frame.row).encode("utf-8", "surrogatepass")
        text = line[frame.column : frame.end_column].decode("utf-8", "replace")
        return text if text and len(text) <= _LONGEST else ""

    def named(self, otherwise: str) -> str:
        """Quote the code of the first evidence; return ``otherwise`` if it is unknown."""
        text = self.code(self.first)
        return code_span(text) if text else otherwise

    def line(self, evidence: Evidence) -> str:
        """Name the line of an item of evidence."""
        frame: StackFrame = evidence.stack[-1]
        source = self._source(frame.filename)
        here = self.first.stack[-1].filename
        return row_of(source, frame.row, here) if source is not None else f"line {frame.row}"

    def note(self) -> str:
        """Return sentences that the title does not contain, each with a trailing space."""
        kind, first = self.cause.kind, self.first
        if kind == "aliasing":
            return f"{self.line(first).capitalize()} writes into {code_span(self.cause.evidence[1].name)}. "
        if kind == "numpy":
            return "".join(
                f"Likewise `np.{other.name}` ({self.line(other)}): {other.now}, NumPy {other.before}. "
                for other in self.cause.evidence[1:]
            )
        if kind == "hook":
            return f"Dynamo looks at hooks only when it compiles (`{_HOOK_GUARDS}` is True). "
        if kind == "reused":
            return "The value that has changed since it was compiled is not known. "
        return ""

    def hints(self) -> tuple[str, ...]:
        """Return the advice for this kind of cause."""
        kind = self.cause.kind
        if kind in ("branch", "loop", "called", "value"):
            return (self._decide_outside(),)
        if kind == "numpy":
            names = dict.fromkeys(item.name for item in self.cause.evidence)
            return _or(*(_SUBSTITUTES[name] for name in names if name in _SUBSTITUTES), _EAGERLY)
        if kind == "aliasing":
            written = code_span(self.cause.evidence[1].name)
            return (f"Pass a clone of one of the two, or do not write into {written} in place.",)
        if kind == "setting":
            return (_AUTOCAST if "autocast_dtype" in self.first.name else _SET_BEFORE,)
        return _HINTS.get(kind, ())

    def _decide_outside(self) -> str:
        text = self.code(self.first)
        if any(word in text for word in _READ_OUTSIDE):
            return "Read it outside of the compiled function, and pass the value as an argument."
        if " is " in text:
            return "Compare values that torch guards: a string, a number, an enum or a bool."
        return _AS_ARGUMENT


_HINTS: Final = {
    "hook": (
        "Register hooks before the first call of what is compiled.",
        f"Or set `{_HOOK_GUARDS} = False` before it: torch then compiles again when hooks change.",
    ),
    "cached": (
        "Call it before the compiled function, and pass the result as an argument.",
        "Or put `@torch.compiler.disable` above the cache, at the price of a graph break.",
    ),
    "compiling": ("Do not test it where compiled and uncompiled code must do the same.",),
}
_NOT_REUSED: Final = ("numpy", "cached", "compiling")


def _branch(words: _CauseWords) -> str:
    was, now = (value.lower().replace("none", "None") for value in (words.first.before, words.first.now))
    condition = words.named(f"the condition on {words.line(words.first)}")
    return f"{condition} was {was} when compiled, and is {now} in {words.call}: {_UNGUARDED}"


def _loop(words: _CauseWords) -> str:
    ends = {"ended": "had fewer iterations", "went on": "had more iterations"}
    loop = f"the loop on {words.line(words.first)}"
    return f"{loop} {ends[words.first.before]} when compiled than in {words.call}: {_UNGUARDED}"


def _called(words: _CauseWords) -> str:
    called = words.first.before, words.first.now
    before, now = (code_span(name) if name else "no function of the program" for name in called)
    call = words.named(words.line(words.first))
    return f"{call} called {before} when compiled, and calls {now} in {words.call}: {_UNGUARDED}"


def _value(words: _CauseWords) -> str:
    first = words.first
    if first.name:
        subject, verbs = f"{code_span(first.name)} ({words.line(first)})", ("was", "is")
    else:
        subject, verbs = words.named(f"a call on {words.line(first)}"), ("returned", "returns")
    before, now = code_span(first.before), code_span(first.now)
    return f"{subject} {verbs[0]} {before} when compiled, and {verbs[1]} {now} in {words.call}: {_UNGUARDED}"


def _hook(words: _CauseWords) -> str:
    name = code_span(words.first.name)
    if words.first.now == "runs":
        return f"the hook {name} was registered after {words.function} was compiled, and does not run there"
    return f"the hook {name} was removed after {words.function} was compiled, and still runs there"


def _aliasing(words: _CauseWords) -> str:
    names = words.first.name
    if words.first.now == "shared":
        return f"{names} share memory in {words.call}, and did not when compiled: torch has no guard on that"
    return f"{names} shared memory when compiled, and do not in {words.call}: torch has no guard on that"


def _reused(words: _CauseWords) -> str:
    return f"{_ALIKE}: {words.call}" if words.cause.call else _ALIKE


_TITLES: Final[dict[str, Callable[[_CauseWords], str] | str]] = {
    "branch": _branch,
    "loop": _loop,
    "called": _called,
    "value": _value,
    "hook": _hook,
    "aliasing": _aliasing,
    "setting": f"{{name}} was {{before}} when compiled, and is {{now}} in {{call}}: {_UNGUARDED}",
    "numpy": "torch's translation of `np.{plain}` gives {now}, NumPy {before}",
    "cached": "Dynamo ignores the cache of {name}: uncompiled, {call} takes a result from it",
    "compiling": "{asked} is true in compiled code: the program itself does something else there",
}
"""The title, or a function that builds the title, by the kind of the cause."""


def _title(words: _CauseWords) -> str:
    title, first = _TITLES.get(words.cause.kind, _reused), words.first
    if callable(title):
        return title(words)
    return title.format(
        name=code_span(first.name),
        plain=first.name,
        before=first.before,
        now=first.now,
        call=words.call,
        asked=words.named(f"the question on {words.line(first)}") if first.stack else "",
    )
