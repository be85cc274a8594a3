"""Every message of Fullgraph that LSP does not have. Mirrored by ``extension/src/protocol.ts``.

Requests:
    ``fullgraph/targets`` (no parameters) -> ``TargetItem[]``: what can be run in the workspace.
Notifications of the server, to a client with the capability ``experimental.fullgraphStatus``:
    ``fullgraph/status`` ``StatusParams``: a run began or ended.
Commands (``workspace/executeCommand``):
    ``fullgraph.run [target]`` -> ``RunSummary``, once the run is over.
    ``fullgraph.stop [target?]``, ``fullgraph.clear [target?]`` -> ``null``; of all targets without one.
    A target is named by its id or by a file's URI.
In ``Diagnostic.data``: ``FindingData``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from lsprotocol import types
from pygls.protocol import LanguageServerProtocol, default_converter

TARGETS = "fullgraph/targets"
STATUS = "fullgraph/status"

RUN = "fullgraph.run"
STOP = "fullgraph.stop"
CLEAR = "fullgraph.clear"


@attrs.frozen
class TargetItem:
    """Something that can be run."""

    id: str
    """What ``fullgraph.run`` takes."""
    label: str
    kind: str
    """``script``, ``pytest`` or ``example``."""
    uri: str
    configured: bool
    """Whether it comes from the configuration rather than from discovery."""
    range: types.Range | None = None
    """The function, class or test, where the target is not a whole file."""
    last_status: str | None = None
    """How its last run ended, or ``running``."""


@attrs.frozen
class StatusParams:
    """A run began or ended."""

    target: str
    generation: int
    status: str
    """``running``, or how the run ended."""


@attrs.frozen
class RunSummary:
    """The answer to ``fullgraph.run``."""

    target: str
    status: str
    """How the run ended; ``cancelled`` also for one that was stopped before it began."""
    findings: int


@attrs.frozen
class FindingData:
    """What a diagnostic carries for later requests about it."""

    target: str
    generation: int
    kind: str
    count: int
    rendered: str
    """The full explanation, as plain text."""


@attrs.define
class TargetsRequest:
    """``fullgraph/targets``."""

    id: int | str
    method: str = TARGETS
    params: Any = None
    jsonrpc: str = "2.0"


class FullgraphProtocol(LanguageServerProtocol):
    """LSP with the messages of this module."""

    @lru_cache  # noqa: B019 - one protocol lives as long as the process
    def get_message_type(self, method: str) -> type[Any] | None:
        """The type of a request or notification."""
        return TargetsRequest if method == TARGETS else super().get_message_type(method)


def create_converter() -> Converter:
    """The converter of pygls, taught the messages of this module: camel case, and no absent values."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    for cls in (TargetItem, StatusParams, RunSummary, FindingData, TargetsRequest):
        names = {
            field.name: override(rename=_camel(field.name), omit_if_default=field.default is None)
            for field in attrs.fields(cls)
        }
        # mypy cannot tell what a mapping of overrides is meant for.
        converter.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, converter, **names))  # type: ignore[arg-type]
        converter.register_structure_hook(cls, make_dict_structure_fn(cls, converter, **names))  # type: ignore[arg-type]
    return converter


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)
