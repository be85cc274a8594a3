"""Hints about graph breaks, skipped CUDA graphs and compiled ``LightningModule``s."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fullgraph_compiler.facts import Network

from .markdown import code_span

_CUDAGRAPH_HINTS = {
    "mutated inputs": "Return the new value from compiled code instead of writing into its inputs.",
    "cpu device": "Move the tensor to the GPU before the compiled code, or make it with `device=x.device`.",
    "multiple devices": "Keep compiled code on one GPU.",
    "incompatible op": "Move the operation out of the compiled function, or use another operation.",
    "dynamic shapes": "Pad inputs to a few sizes, or mark sizes as static: a CUDA graph has fixed sizes.",
}

_REPORT = re.compile(r"Please (?:report|open) an issue(?: to PyTorch)?\.?")
_UNAVOIDABLE = re.compile(r"Avoid calling (?:the function )?`\w+\.(?:step|zero_grad|backward)`\.?")
"""Torch's hint to avoid a call that every training step needs."""
_DEBUG_CONTEXT = "using the debug context"
"""Part of a hint that refers to text that only torch's developers see."""
RETURNS_ALIAS = "-to-output aliasing detected"
"""Part of torch's error if a function passed to a higher-order operator returns an input or its view."""
RETURN_A_COPY = "Return a copy of it: add `.clone()`."
WRITES_INPUT = "Encountered input mutation during higher order op tracing"
RETURN_A_NEW_ONE = "Compute a new tensor instead of writing into the input, and return it from the function."
_ABOUT_TORCH = re.compile(r"^Set |torch\._dynamo\.config|TORCH|issue to PyTorch|earlier graph break")
"""Hints about settings or torch itself, not about the code where the graph breaks."""


def break_hints(hints: Sequence[str], *, in_library: bool) -> tuple[str, ...]:
    """Return the useful ones of torch's hints on a graph break.

    If the graph breaks in a library, hints to change the library's code are left out. A hint to report an
    issue is returned only if there is no other hint.
    """
    possible = [
        hint
        for hint in hints
        if not (_UNAVOIDABLE.fullmatch(hint) or _DEBUG_CONTEXT in hint)
        and (not in_library or _ABOUT_TORCH.search(hint))
    ]
    helpful = [hint for hint in possible if not _REPORT.fullmatch(hint)]
    return tuple(helpful or possible)


def compile_networks(cls: str, networks: Sequence[Network]) -> str:
    """Advise to compile the networks of a ``LightningModule`` instead of the module."""
    one = len(networks) == 1
    ways = [_compiled(item.name, in_place=item.in_place) for item in networks]
    renamed = [code_span(f"{item.name}._orig_mod.") for item in networks if not item.in_place]
    keys = f" In checkpoints, names then begin with {' and '.join(renamed)}." if renamed else ""
    return (
        f"Compile the {'network' if one else 'networks'}, not the LightningModule: write "
        f"{' and '.join(map(code_span, ways))} right after {'it is' if one else 'they are'} set, with the "
        f"options that {code_span(cls)} is compiled with, and do not compile {code_span(cls)} itself.{keys}"
    )


def _compiled(name: str, *, in_place: bool) -> str:
    return f"self.{name}.compile()" if in_place else f"self.{name} = torch.compile(self.{name})"


def cudagraph_hints(reason: str) -> tuple[str, ...]:
    """Return hints for a reason of torch to skip CUDA graphs.

    Torch's reasons are in ``torch/_inductor/cudagraph_utils.py``.
    """
    return tuple(hint for words, hint in _CUDAGRAPH_HINTS.items() if words in reason)
