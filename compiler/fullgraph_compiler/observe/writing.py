"""Write the log of an observed program: torch's log, with data of the process."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from copy import copy
from typing import Any, Final

from ..compat import dynamo_compat, kernel_compat, trace_compat
from ..facts.seen import with_seen
from .complaints import complain
from .live import is_relevant, look
from .names import note_names

_INDUCTOR_BEGINS: Final = "before_pre_grad_graph"
"""The name of the first record that TorchInductor writes about a graph."""


def write_log(folder: str) -> None:
    """Write the log of this process into ``folder``, from its first compilation on."""
    trace_compat.write_log(folder, _RecordCompleter().completed, _give_up)


class _RecordCompleter:
    """A filter that completes the records of this process.

    The first record of Dynamo shows that Dynamo is loaded and can be patched. The same applies to
    TorchInductor.
    """

    def __init__(self) -> None:
        self._of_dynamo = self._of_inductor = False
        self._is_incomplete = False

    def completed(self, record: logging.LogRecord) -> logging.LogRecord:
        """Return a record with the data that only this process has.

        Never raises.
        """
        try:
            return self._completed(record, record.metadata)  # type: ignore[attr-defined]
        except Exception as error:
            if not self._is_incomplete:
                self._is_incomplete = True
                complain("the log lacks some details that only this process knows", error)
            return record

    def _completed(self, record: logging.LogRecord, metadata: Mapping[str, Any]) -> logging.LogRecord:
        name, body = next(iter(metadata.items()))
        self._prepare(body["name"] if name == "artifact" else name)
        if not is_relevant(metadata):
            return record
        seen = look(metadata, sys._getframe(2))
        record = copy(record)  # other handlers get the unchanged record
        record.metadata = {**metadata, name: with_seen(body, seen)}
        return record

    def _prepare(self, name: str) -> None:
        if not self._of_dynamo:
            self._of_dynamo = True
            dynamo_compat.place_frames()
            note_names()
        if name == _INDUCTOR_BEGINS and not self._of_inductor:
            self._of_inductor = True
            kernel_compat.trace_hints()


def _give_up(error: Exception) -> None:
    complain("the log of this process ends here", error)
