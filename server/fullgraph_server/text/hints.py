"""Hints about CUDA graphs that are not made, and about modules of Lightning that are compiled."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph_compiler.facts import Network

from .markdown import code_span

_CUDAGRAPH_HINTS = {
    "mutated inputs": "Return the new value from compiled code instead of writing into its inputs.",
    "cpu device": "Move the tensor to the GPU ahead of the compiled code; make it with `device=x.device`.",
    "multiple devices": "Keep compiled code on one GPU.",
    "incompatible op": "Move the operation out of the compiled function, or use another one.",
    "dynamic shapes": "Pad inputs to a few sizes, or mark sizes as static: a CUDA graph is of one size.",
}


def compile_networks(cls: str, networks: Sequence[Network]) -> str:
    """Advise to compile the networks of a ``LightningModule`` of this class, and not the whole."""
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
    """Advise on a reason why no CUDA graph is made (``torch/_inductor/cudagraph_utils.py``)."""
    return tuple(hint for words, hint in _CUDAGRAPH_HINTS.items() if words in reason)
