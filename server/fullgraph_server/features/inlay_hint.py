"""Inlay hints: the type of each named tensor (``x: f32[8, s0]``), and line costs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from fullgraph_compiler.facts import NamedTensor
from lsprotocol import types

from ..client.documents import ClientDocuments
from ..client.findings import names_of
from ..client.projection import ShownTensors
from ..report.measured.model import CauseKind, MeasuredSpeed, SpeedCause
from ..report.model import HeldTensors, TensorName
from ..text.durations import duration
from ..text.source_names import written_name
from .context import ServerContext

_MOST_TENSORS = 2
_LEAST_SHARE = 0.05
"""The least share of a call's time that removing a cause must save for the cause to get a hint."""
_COSTS: Final[Mapping[CauseKind, str]] = {
    "recompile": "compiling again",
    "break": "outside of graphs",
    "guards": "checking guards",
    "entry": "entering graphs",
    "launch": "calling kernels",
    "cudagraph": "calling kernels",
    "kernel": "kernel",
    "copy": "copying",
}


def register(context: ServerContext) -> None:
    """Register the handler of ``textDocument/inlayHint``."""

    @context.server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        filename = context.documents.filename(params.text_document.uri)
        source = context.documents.source(filename) if filename else None
        if filename is None or source is None:
            return []
        first, last = params.range.start.line + 1, min(params.range.end.line + 1, len(source.lines))
        view = context.projections.of(filename)
        tensors = [_hint(context.documents, same) for same in by_place(view.tensors(first, last))]
        costs = ((row, cost_of(speed, causes)) for row, speed, causes in view.costs(first, last))
        return tensors + [
            _cost_hint(context.documents, filename, row, *cost) for row, cost in costs if cost[0]
        ]


def by_place(tensors: Iterable[ShownTensors]) -> list[list[ShownTensors]]:
    """Group tensors by place; of targets with the same label there, use the first."""
    places: dict[tuple[int, int], dict[str, ShownTensors]] = {}
    for shown in tensors:
        same = places.setdefault((shown.row, shown.name.span.end_column), {})
        same.setdefault(label(shown.name, shown.with_device), shown)
    return [list(same.values()) for same in places.values()]


def labels(same: Sequence[ShownTensors]) -> str:
    """Return the text to show after a name; if targets differ, with their names."""
    if len(same) == 1:
        return label(same[0].name, same[0].with_device)
    texts = (
        f"{label(item.name, item.with_device).removeprefix(': ')} [{names_of([item.target])}]"
        for item in same[:_MOST_TENSORS]
    )
    shown = " | ".join([*texts, *(["…"] if len(same) > _MOST_TENSORS else [])])
    return shown if same[0].name.annotated else f": {shown}"


@lru_cache(maxsize=16384)
def label(name: TensorName, with_device: bool) -> str:
    """Return the text to show after a name, or after the name's annotation."""
    texts = list(dict.fromkeys(_text(tensor, with_device=with_device) for tensor in name.shown))
    shown = " | ".join([*texts[:_MOST_TENSORS], *(["…"] if len(texts) > _MOST_TENSORS else [])])
    return shown if name.annotated else f": {shown}"


@lru_cache(maxsize=16384)
def tooltip(name: TensorName) -> str:
    """List a name's tensors by compilation, newest first, with symbolic sizes."""
    return "\n\n".join("\n".join(_compilation(held)) for held in reversed(name.held))


def cost_of(speed: MeasuredSpeed, causes: Iterable[SpeedCause]) -> tuple[str, str]:
    """Return a line's cost and its causes, as label and tooltip.

    Both are empty if the line costs little. The label names only the largest cause and begins with numbers,
    since VS Code cuts long labels; the tooltip has all causes.
    """
    whole = speed.measured.compiled
    most = [cause for cause in causes if cause.gain >= _LEAST_SHARE * whole > 0]
    labels = [
        f"{duration(cause.seconds)}, {100 * cause.seconds / whole:.0f} % {_COSTS[cause.kind]}"
        for cause in most
    ]
    texts = ["\n".join(filter(None, (_sentence(cause.message), cause.hint))) for cause in most]
    more = f" + {len(labels) - 1} more" if len(labels) > 1 else ""
    return f"{labels[0]}{more}" if labels else "", "\n\n".join(texts)


def _hint(documents: ClientDocuments, same: Sequence[ShownTensors]) -> types.InlayHint:
    row, name = same[0].row, same[0].name
    behind = replace(name.span, row=row, column=name.span.end_column, end_row=row)
    return types.InlayHint(
        documents.range(behind).end,
        labels(same),
        types.InlayHintKind.Type,
        tooltip=tooltip(name),
        padding_left=name.annotated,
    )


def _cost_hint(
    documents: ClientDocuments, filename: str, row: int, label: str, tooltip: str
) -> types.InlayHint:
    end = documents.line_range(filename, row).end
    return types.InlayHint(end, label, tooltip=tooltip, padding_left=True)


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}."


def _compilation(held: HeldTensors) -> Iterator[str]:
    yield f"Compilation {held.compile_id}"
    for tensor in held.tensors:
        stride = f", stride ({tensor.stride})" if tensor.stride else ""
        yield f"{tensor.tensor} on {tensor.device}{stride}"
    names = _words(tensor.tensor for tensor in held.tensors)
    for symbol in held.symbols:
        if symbol.name in names:
            value = "" if symbol.value is None else f", {symbol.value} when it was compiled"
            yield f"{symbol.name}: {written_name(symbol.source) or 'known at run time'}{value}"


def _text(tensor: NamedTensor, *, with_device: bool) -> str:
    return f"{tensor.tensor} {tensor.device}" if with_device and tensor.device != "cpu" else tensor.tensor


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"\w+", text)}
