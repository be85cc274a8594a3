"""Answers to names that ``torch.compile`` does not know: an option of TorchInductor, a backend."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Final

from ...text.markdown import code_span
from .marks import Marks
from .seen_errors import SeenError
from .words import Answer

_NAME: Final = re.compile(r"'([\w.]{1,100})'")
_BACKENDS: Final = ("aot_eager", "cudagraphs", "eager", "inductor", "openxla", "tvm")
"""Backends of torch itself (``torch._dynamo.list_backends(None)``, 2.11 to 2.15)."""
_CLOSE: Final = 0.6


def unknown_option(_: Marks, error: SeenError) -> Answer:
    """Name the options that are written alike, instead of all that there are."""
    listed = error.message.partition("known options are [")[2]
    close = _alike(error.name, _NAME.findall(listed))
    return Answer(
        f"TorchInductor has no option {code_span(error.name)}.",
        (f"{close}`torch._inductor.list_options()` lists all options.",),
        title=f"unknown option {code_span(error.name)}",
    )


def unknown_backend(_: Marks, error: SeenError) -> Answer:
    """Name the backends that are written alike."""
    close = _alike(error.name, _BACKENDS)
    return Answer(
        f"There is no backend {code_span(error.name)}.",
        (f"{close}`torch._dynamo.list_backends()` lists those that there are.",),
        title=f"unknown backend {code_span(error.name)}",
    )


def _alike(name: str, names: Sequence[str]) -> str:
    """Ask for the names that are written like one; empty if there are none."""
    close = difflib.get_close_matches(name, names, 3, _CLOSE)
    return f"Did you mean {' or '.join(map(code_span, close))}? " if close else ""
