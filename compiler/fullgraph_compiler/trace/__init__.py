"""Readers of torch's structured trace: decode records, read logs, and make facts.

Standard library only. :class:`TraceInterpreter` is the only code that knows what a record means, both in a
live run and in a log, for every supported torch. ``export/`` reads the records of ``torch.export``,
``inductor/`` those of TorchInductor and of the compiler's caches.

- ``interpreter``: conversion of records to facts
- ``compilation``: the state of one compilation while its records are read
- ``record``: one record, from a log or from the process
- ``log``: the search for records in a log, which are decoded on demand
- ``decoding``: JSON and Python of a log, with limits on length and depth
- ``messages``: messages of graph breaks, and tracebacks
- ``guards``: the guard tree
- ``reasons``: reasons for a recompilation
- ``causes``: the installed guard to which a reason refers
- ``changes``: the values that differ between compilations of a function
- ``graphs``: captured graphs with the user's lines
- ``ranks``: graphs, schedules and estimates, which should be the same on all ranks of a job
- ``shapes``: symbolic sizes: guards and specializations
- ``phases``: how long the compiler's steps take
- ``vllm``: how vLLM splits and compiles a graph
- ``stacks``: stacks, joined over resume functions, with the names of their files
- ``texts``: texts of records, except the forms of a graph
- ``lines``: source lines that a log quotes
- ``inputs``: tensors and numbers with which compiled frames were called
"""

from .interpreter import FINDING_RECORDS, GRAPH_RECORDS, KNOWN_RECORDS, TraceInterpreter
from .log import LoggedRecord, LogHead, TraceLog, read_head, read_log
from .record import TraceRecord, frame_of, from_metadata

__all__ = [
    "FINDING_RECORDS",
    "GRAPH_RECORDS",
    "KNOWN_RECORDS",
    "LogHead",
    "LoggedRecord",
    "TraceInterpreter",
    "TraceLog",
    "TraceRecord",
    "frame_of",
    "from_metadata",
    "read_head",
    "read_log",
]
