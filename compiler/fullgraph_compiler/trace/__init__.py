"""torch's structured trace: decode its records, read its logs, and turn them into facts.

Standard library only. :class:`Interpreter` is the one place that knows what a record means, for a
live run and for a log, for every supported torch.
"""

from .interpreter import FINDING_RECORDS, GRAPH_RECORDS, KNOWN_RECORDS, Interpreter
from .log import LogHead, TraceLog, read_head, read_log
from .record import TraceRecord, frame_of, from_metadata

__all__ = [
    "FINDING_RECORDS",
    "GRAPH_RECORDS",
    "KNOWN_RECORDS",
    "Interpreter",
    "LogHead",
    "TraceLog",
    "TraceRecord",
    "frame_of",
    "from_metadata",
    "read_head",
    "read_log",
]
