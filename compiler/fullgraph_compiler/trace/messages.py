"""Parsers of torch's texts: graph-break messages, error messages, and tracebacks.

``format_graph_break_message`` and ``unimplemented`` in ``torch/_dynamo/exc.py`` write the message of a
graph break::

    <gb_type>
      Explanation: ...
      Hint: ...
      Developer debug context: ...
     For more details about this graph break, please visit: <url>/gbNNNN.html

The labels have been the same since torch 2.8. A break in a higher-order operator has the operator's name
under a separate label. If a break led to a second break, the second message follows the first after a line of
asterisks; the first break is the cause.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..facts import Stack, StackFrame

_URL = re.compile(r"^https?://\S*/(gb\d+)\.html$")
_LABEL = re.compile(r"^\s*(Explanation|Hint|Developer debug context|Higher Order Operator): ?")
_MORE = re.compile(r"^\s*For more details about this graph break")
_INTRODUCTION = re.compile(r"^(Graph break in user code at .*|Graph Break Reason: .*:)$")
"""Lines before the reason, with the place of the break and how Dynamo continues."""
_UNCAPTURED = "This higher order operator doesn't work unless it is captured completely"
"""The line before the reason for not capturing an operator that cannot run eagerly."""
_UP_TO = "Compiling up to the previous resumable state, then skipping the rest of the function."
_SEE = re.compile(r"^For more information about this error, see: (https?://\S+)$", re.MULTILINE)
"""The line with which a ``UserError`` refers to the documentation."""
_ANOTHER = re.compile(r"^\*\*\* While handling this graph break")
_FRAME = re.compile(r'^\s*File "(?P<file>.+)", line (?P<row>\d+), in (?P<function>.+)')
_USER_CODE = re.compile(
    r"^(from user code:|User code traceback:|User stack trace:|The graph break occurred in)"
)
_ENDS_ERROR = re.compile(rf"{_USER_CODE.pattern}|^(User stack:|Set TORCHDYNAMO_VERBOSE=1 )")
_OF_DYNAMO = re.compile(r"[/\\]torch[/\\](?:_dynamo|_guards)\b")
_UNEXPECTED = (
    "AssertionError",
    "AttributeError",
    "KeyError",
    "NotImplementedError",
    "TypeError",
)
"""Errors that show a bug in Dynamo if Dynamo's own code raises them; other errors may be about the
program."""
BUG = "This is a bug in torch, not in the program."
_REPORT = "Report it: https://github.com/pytorch/pytorch/issues"
_BOUND = re.compile(r"<bound method ([\w.]+) of ")
_LONGEST_METHOD = 2_000
_NAME = "HigherOrderOperator.name"
"""A method that torch prints instead of its result (``variables/higher_order_ops.py``, 2.13)."""
_OPERATOR = re.compile(r"_higher_order_ops\.(\w+)\.")
_CARETS = re.compile(r"^\s*([~^]+)\s*$")
"""The markers that Python prints below a line: ``~~^~~``."""
_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"(?P<error>[\w.]+)(?:: (?P<message>.*))?")
"""The line of a traceback that names the exception."""


Source: TypeAlias = Callable[[str, int], str]
"""A function that returns the text of a line, given its file and row; empty if the line is not available."""


def no_source(_filename: str, _row: int) -> str:
    """Return an empty string, for a log of a run whose files are not available."""
    return ""


@dataclass(frozen=True, slots=True)
class BreakMessage:
    """A graph break as torch describes it. ``code`` is like ``GB0059``, or empty.

    ``operator`` is the higher-order operator that contains the break, such as ``torch.cond``, and ``whole``
    says that Dynamo must capture all of the operator. ``led_to`` is the break that resulted from this break.
    """

    reason: str
    explanation: str = ""
    hints: tuple[str, ...] = ()
    context: str = ""
    code: str = ""
    url: str = ""
    operator: str = ""
    whole: bool = False
    led_to: BreakMessage | None = None

    @property
    def whole_explanation(self) -> str:
        """The operator, the explanation, and the explanation of the break in ``led_to``."""
        parts = []
        if self.operator or self.whole:
            operator = (
                f"the higher-order operator `{self.operator}`" if self.operator else "a higher-order operator"
            )
            demand = ", which must be captured completely" if self.whole else ""
            parts.append(f"Inside of {operator}{demand}.")
        if self.explanation:
            parts.append(self.explanation)
        if self.led_to:
            name = ", ".join(part for part in (self.led_to.code, self.led_to.reason) if part)
            parts.append(f"This leads to another break, {name}: {self.led_to.whole_explanation}")
        return "\n".join(parts)


def parse_message(text: str) -> BreakMessage:
    """Read the first graph-break message in ``text``.

    A text without labels becomes the reason.
    """
    message, page = _read(iter(text.splitlines())), _SEE.search(text)
    return replace(message, url=page.group(1)) if page and not message.url else message


def _read(lines: Iterator[str]) -> BreakMessage:
    """Read a message, and the messages of breaks that it led to, up to a traceback."""
    reason = ""
    values: dict[str, str] = {}
    hints: list[str] = []
    part: list[str] = []
    label = ""
    ended = whole = False
    url: re.Match[str] | None = None
    led_to: BreakMessage | None = None

    def close() -> None:
        value = _unwrap(part)
        if label == "Hint":
            hints.append(value)
        else:
            values[label] = value
        part.clear()

    for line in lines:
        found = _LABEL.match(line)
        if line.startswith(_TRACEBACK) or _USER_CODE.match(line):
            break
        if _ANOTHER.match(line):
            led_to = _read(lines)
            break
        if ended:
            continue
        if found:
            close()
            label = found.group(1)
            part.append(line[found.end() :])
        elif _MORE.match(line):
            url = _URL.match(line.rstrip().rpartition(" ")[2])
            ended = True
        elif label:
            part.append(line)
        elif line.startswith(_UNCAPTURED):
            whole = True
        elif reason.endswith("but found:"):
            reason = f"{reason} {line.strip().partition(', where ')[0]}"
        elif not reason and line.strip() and not _INTRODUCTION.match(line):
            reason = without_bound_methods(line.strip().removeprefix("Graph Break Reason: "))
    close()
    return BreakMessage(
        reason=reason,
        explanation=values.get("Explanation", ""),
        hints=tuple(hints),
        context=values.get("Developer debug context", ""),
        code=url.group(1).upper() if url else "",
        url=url.group(0) if url else "",
        operator=values.get("Higher Order Operator", ""),
        whole=whole,
        led_to=led_to,
    )


def skips_rest(text: str) -> bool:
    """Return whether torch compiles the function only up to a line before the break."""
    return _UP_TO in text.partition("Graph break encountered:")[0]


def first_line(text: str) -> str:
    """Return the line of an error message that says what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # "backend='x' raised:" introduces the error itself.
    if len(lines) > 1 and lines[0].endswith("raised:"):
        return f"{lines[0]} {lines[1]}".removesuffix(":")
    return lines[0] if lines else ""


def error_message(kind: str, text: str, trace: str) -> BreakMessage:
    """Convert an error of the compiler to a message.

    ``kind`` is the type of the error, ``text`` its message, and ``trace`` its traceback, empty if unknown.
    """
    said = list(itertools.takewhile(lambda line: not _ENDS_ERROR.match(line), text.strip().splitlines()))
    reason = first_line(text)
    more = "" if kind == "BackendCompilerFailed" else "\n".join(map(str.rstrip, said[1:])).strip()
    if kind not in _UNEXPECTED or not _raised_in_dynamo(trace):
        return BreakMessage(reason, more)
    return BreakMessage(reason, "\n".join(part for part in (more, BUG) if part), (_REPORT,))


def _raised_in_dynamo(trace: str) -> bool:
    frames = list(map(_FRAME.match, trace.partition("\nfrom user code:")[0].splitlines()))
    last = next(filter(None, reversed(frames)), None)
    return last is not None and _OF_DYNAMO.search(last["file"]) is not None


@dataclass(frozen=True, slots=True)
class RelayedError:
    """An error of another process or thread, as quoted in another error's message.

    ``introduction`` is the line before its traceback; ``stack`` ends with the user's code that Dynamo traced.
    """

    introduction: str
    error: str
    message: BreakMessage
    stack: Stack


def parse_error_elsewhere(text: str) -> RelayedError | None:
    """Read the last traceback in a message; return ``None`` if there is none.

    ``torch.multiprocessing.spawn`` (``_wrap`` and ``join``) and data loaders (``torch/_utils.py``:
    ``ExceptionWrapper``) write messages with a traceback (torch 2.11 to 2.15).
    """
    lines = text.splitlines()
    starts = [index for index, line in enumerate(lines) if line.endswith(_TRACEBACK)]
    if not starts:
        return None
    own = lines[starts[-1] + 1 :]
    end = next((index for index, line in enumerate(own) if line and not line[0].isspace()), len(own))
    raised = _RAISED.fullmatch(own[end]) if end < len(own) else None
    if raised is None:
        return None
    said = "\n".join((raised["message"] or "", *own[end + 1 :]))
    introduction = next((line for line in lines[: starts[0]] if line.strip()), "")
    return RelayedError(
        introduction.strip("-:. "),
        raised["error"].rpartition(".")[2],
        parse_message(said),
        (*parse_frames(own[:end]), *parse_user_stack(said)),
    )


def parse_user_stack(text: str, source: Source = no_source) -> Stack:
    """Read the stack under "User code traceback:" or "from user code:".

    Return an empty stack if the text has neither line.
    """
    lines = text.splitlines()
    start = next((index for index, line in enumerate(lines) if _USER_CODE.match(line)), None)
    return () if start is None else parse_frames(lines[start + 1 :], source)


def parse_frames(lines: list[str], source: Source = no_source) -> Stack:
    """Read the frames of a traceback, outermost first, up to the next traceback.

    Carets below a line become columns of the frame, if ``source`` has the line with its indentation.
    """
    frames = []
    for index, line in enumerate(lines):
        if line.startswith(_TRACEBACK):
            break
        found = _FRAME.match(line)
        if found:
            frame = StackFrame(found["file"], int(found["row"]), found["function"])
            frames.append(_placed(frame, lines[index + 1 : index + 3], source))
    return tuple(frames)


def _placed(frame: StackFrame, below: list[str], source: Source) -> StackFrame:
    """Add columns to a frame, if known.

    ``below`` are the lines below the frame: its source line without the original indentation, and perhaps a
    line of carets.
    """
    carets = _CARETS.match(below[1]) if len(below) > 1 else None
    if not carets:
        return frame
    text = below[0].strip()
    line = source(frame.filename, frame.row).rstrip()
    if not text or not line.endswith(text):
        return frame
    # The quoted line and its carets have the same indentation.
    shift = len(line) - len(text) - (len(below[0]) - len(below[0].lstrip()))
    places = (_characters(below[0], width) + shift for width in carets.span(1))
    column, end_column = (len(line[:place].encode("utf-8", "surrogatepass")) for place in places)
    return replace(frame, column=column, end_row=frame.row, end_column=end_column)


def _characters(line: str, width: int) -> int:
    """Return the number of characters that fill a width on the screen.

    torch indents carets by the width of the text above them.
    """
    for number, character in enumerate(line):
        if width <= 0:
            return number
        width -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return len(line)


def _unwrap(lines: list[str]) -> str:
    while lines and not lines[-1].strip():
        lines.pop()
    return without_bound_methods("\n".join(line.rstrip() for line in lines).strip())


def without_bound_methods(text: str) -> str:
    """Replace Python's representations of bound methods by their names.

    A bound ``HigherOrderOperator.name`` is replaced by the name of the operator.
    """
    parts = []
    end = 0
    for found in _BOUND.finditer(text):
        if found.start() < end:
            continue  # within another representation
        close = _closing(text, found.start())
        if close:
            operator = _OPERATOR.search(text, found.end(), close) if found[1] == _NAME else None
            parts += [text[end : found.start()], f"`{operator[1] if operator else found[1]}`"]
            end = close
    return "".join((*parts, text[end:]))


def _closing(text: str, start: int) -> int:
    """Return the index after the bracket that closes the bracket at ``start``.

    Return 0 if the closing bracket is missing or beyond the search limit.
    """
    depth = 0
    for place in range(start, min(start + _LONGEST_METHOD, len(text))):
        depth += {"<": 1, ">": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    return 0
