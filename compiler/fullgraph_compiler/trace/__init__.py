"""torch's structured trace: decode its records, read its logs, and turn them into facts.

Standard library only. :class:`Interpreter` is the one place that knows what a record means, for a
live run and for a log, for every supported torch.
"""

from .interpreter import KNOWN_RECORDS, Interpreter
from .log import read_log, read_records
from .record import TraceRecord, from_metadata

__all__ = ["KNOWN_RECORDS", "Interpreter", "TraceRecord", "from_metadata", "read_log", "read_records"]
