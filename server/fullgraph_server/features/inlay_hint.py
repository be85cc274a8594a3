"""Inlay hints: the type of each tensor that the code names (``x: f32[8, s0]``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from fullgraph_compiler.facts import NamedTensor
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..client.documents import Documents
from ..client.findings import names_of
from ..client.projection import Projections, ShownTensors
from ..report.model import HeldTensors, TensorName
from ..text.source_names import written_name

_MOST_TENSORS = 2


def register(server: LanguageServer, documents: Documents, projections: Projections) -> None:
    """Answer ``textDocument/inlayHint``."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        filename = documents.filename(params.text_document.uri)
        source = documents.source(filename) if filename else None
        if filename is None or source is None:
            return []
        first, last = params.range.start.line + 1, min(params.range.end.line + 1, len(source.lines))
        return [_hint(documents, same) for same in by_place(projections.of(filename).tensors(first, last))]


def by_place(tensors: Iterable[ShownTensors]) -> list[list[ShownTensors]]:
    """Group what targets say of a name; of those that say the same, the first counts."""
    places: dict[tuple[int, int], dict[str, ShownTensors]] = {}
    for shown in tensors:
        same = places.setdefault((shown.row, shown.name.span.end_column), {})
        same.setdefault(label(shown.name, shown.with_device), shown)
    return [list(same.values()) for same in places.values()]


def labels(same: Sequence[ShownTensors]) -> str:
    """Return the text to show behind a name; where targets differ, each is named."""
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
    """Return the text to show behind a name, or behind its annotation."""
    texts = list(dict.fromkeys(_text(tensor, with_device=with_device) for tensor in name.shown))
    shown = " | ".join([*texts[:_MOST_TENSORS], *(["…"] if len(texts) > _MOST_TENSORS else [])])
    return shown if name.annotated else f": {shown}"


@lru_cache(maxsize=16384)
def tooltip(name: TensorName) -> str:
    """List the tensors of a name by compilation, the newest first, and the sources of symbolic sizes."""
    return "\n\n".join("\n".join(_compilation(held)) for held in reversed(name.held))


def _hint(documents: Documents, same: Sequence[ShownTensors]) -> types.InlayHint:
    row, name = same[0].row, same[0].name
    behind = replace(name.span, row=row, column=name.span.end_column, end_row=row)
    return types.InlayHint(
        documents.range(behind).end,
        labels(same),
        types.InlayHintKind.Type,
        tooltip=tooltip(name),
        padding_left=name.annotated,
    )


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
