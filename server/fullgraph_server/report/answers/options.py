"""Answers to options and backends that ``torch.compile`` does not know."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Final

from ...text.markdown import code_span
from .marks import MarkUses
from .seen_errors import SeenError
from .words import FindingAnswer

_NAME: Final = re.compile(r"'([\w.]{1,100})'")
_BACKENDS: Final[Sequence[str]] = ("aot_eager", "cudagraphs", "eager", "inductor", "openxla", "tvm")
"""Backends of torch itself (``torch._dynamo.list_backends(None)``, 2.11 to 2.15)."""
_CLOSE: Final = 0.6


def unknown_name(_: MarkUses, error: SeenError) -> FindingAnswer:
    """Suggest options or backends with similar names, instead of torch's whole list."""
    what, listing, names = "backend", "`torch._dynamo.list_backends()` lists all backends.", _BACKENDS
    if error.known.name == "unknown-option":
        what, listing = "option", "`torch._inductor.list_options()` lists all options."
        names = _NAME.findall(error.message.partition("known options are [")[2])
    close = " or ".join(map(code_span, difflib.get_close_matches(error.name, names, 3, _CLOSE)))
    name = code_span(error.name)
    return FindingAnswer(
        f"TorchInductor has no option {name}." if what == "option" else f"There is no backend {name}.",
        (f"Did you mean {close}? {listing}" if close else listing,),
        title=f"unknown {what} {name}",
    )
