"""One record of torch's structured trace, from a log line or the live logger.

Format: ``torch/_logging/_internal.py``, ``TorchLogsFormatter`` and ``trace_structured``. A log line
is ``V<MMDD> <time> <thread> <file>:<line>] {json}``; the payload follows on lines that begin with a tab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..facts.seen import read_seen
from .decoding import read_json

UNKNOWN_FILE = "?"
"""The name used for a file whose number the trace does not define."""

_ENVELOPE = frozenset(
    (
        "rank",
        "process",
        "frame_id",
        "frame_compile_id",
        "attempt",
        "compiled_autograd_id",
        "subgraph_name",
        "has_payload",
        "stack",
    )
)
"""The metadata keys that torch adds next to the key of the event."""
_IDS = ("frame_id", "frame_compile_id", "compiled_autograd_id")
"""The keys that form a compile id."""


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """An event of torch's trace, with its metadata and its payload.

    ``name`` is the event's key, or the artifact's name; ``body`` is the value of the key. ``compile_id`` is
    written as torch prints it (``0/1``; empty outside any compilation). ``text`` is the payload, or a
    function that reads the payload from a log. ``seen`` holds values that only a listener inside the process
    has (:mod:`..observe.live`); a log has them if Fullgraph observed the program.
    """

    name: str
    body: Any
    compile_id: str
    attempt: int
    text: str | Callable[[], str]
    seen: Mapping[str, Any] = field(default_factory=dict)
    calls: Any = None
    """The frames that torch adds to a record outside any compilation."""

    @property
    def payload(self) -> str:
        """The text that belongs to the event, often long; empty if the event has none."""
        return self.text if isinstance(self.text, str) else self.text()


def from_metadata(
    metadata: Mapping[str, Any], payload: str | Callable[[], str], seen: Mapping[str, Any] | None = None
) -> TraceRecord | None:
    """Return the record described by torch's metadata, or ``None``.

    Return ``None`` if there is no event, or if a value has a wrong type. A listener passes ``seen``; for a
    log, it is read from the event.
    """
    name = next((key for key in metadata if key not in _ENVELOPE), None)
    if name is None:
        return None
    body = metadata[name]
    ids = [metadata.get(key) for key in _IDS]
    if not all(value is None or isinstance(value, int) for value in ids):
        return None
    if name == "artifact" and isinstance(body, Mapping) and isinstance(body.get("name"), str):
        name = body["name"]
    if seen is None:
        try:
            seen = read_seen(body)
        except ValueError:
            return None
    attempt = metadata.get("attempt")
    return TraceRecord(
        name=name,
        body=body,
        compile_id=_compile_id(*ids),
        attempt=attempt if isinstance(attempt, int) else 0,
        text=payload,
        seen=seen,
        calls=metadata.get("stack"),
    )


def parse_header(line: str) -> Mapping[str, Any] | None:
    """Decode the metadata of a log line; return ``None`` if no record begins there."""
    start = line.find("] {")
    if start < 0 or line.startswith("\t"):
        return None
    try:
        metadata = read_json(line[start + 2 :])
    except ValueError:
        return None
    return metadata if isinstance(metadata, dict) else None


def frame_of(compile_id: str) -> str:
    """Return the part of a compile id that all compilations of the same frame share."""
    return compile_id.rpartition("/")[0]


def later_id(compile_id: str, frames: int) -> str:
    """Return a compile id with ``frames`` added to the number of its frame."""
    if not frames or "/" not in compile_id:
        return compile_id
    *autograd, frame, compilation = compile_id.split("/")
    return "/".join((*autograd, str(int(frame) + frames), compilation))


def frame_number(compile_id: str) -> int:
    """Return the number of the frame in a compile id; -1 if the id has none."""
    return int(compile_id.split("/")[-2]) if "/" in compile_id else -1


def _compile_id(frame: int | None, compilation: int | None, autograd: int | None) -> str:
    # torch/_guards.py, CompileId.__str__
    if frame is None or compilation is None:
        return "" if autograd is None else f"!{autograd}"
    return f"{frame}/{compilation}" if autograd is None else f"!{autograd}/{frame}/{compilation}"
