"""The texts of records, except graph forms, for users who read the whole log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from ..facts import RecordText
from .inductor.code import CODE_RECORDS, KERNEL_STACKS
from .phases import PHASE
from .record import TraceRecord

_FORMS: Final = CODE_RECORDS - {KERNEL_STACKS} | {"dynamo_output_graph"}
_OTHERS: Final = frozenset({PHASE, "str"})
"""Records that occur by the hundreds, and say nothing individually."""
_BODIES: Final = frozenset(
    {
        "aot_autograd_backward_compilation_metrics",
        "bwd_compilation_metrics",
        "compilation_metrics",
        "link",
    }
)
"""Records without a payload: their values are written instead."""


def record_text(record: TraceRecord, *, has_graph: bool) -> Iterator[RecordText]:
    """Yield the text of a record, unless it is empty or a form of the record's graph."""
    if (has_graph and record.name in _FORMS) or record.name in _OTHERS:
        return
    text = json.dumps(record.body, indent=2) if record.name in _BODIES else record.payload
    if text:
        yield RecordText(record.compile_id, _name(record), text)


def _name(record: TraceRecord) -> str:
    """Return the name of a record and of its subject: a file, or a part of a graph."""
    own = record.body.get("name") if isinstance(record.body, Mapping) else None
    return record.name if own in (None, record.name) else f"{record.name}_{own}"
