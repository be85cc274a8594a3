"""Answers chosen by the id of a graph break, for breaks without a hint of torch.

The ids are defined in ``torch/_dynamo/graph_break_registry.json``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from fullgraph_compiler.facts import CompileFailure, GraphBreak

from .words import FindingAnswer

_AS_NEW: Final = "Create a tensor of the size that is needed instead of resizing one."
_STATIC: Final = (
    "Write it as a `@staticmethod` of the class: Dynamo traces `forward` and `backward` as functions."
)
_OF_NUMPY: Final = "Use a function of torch instead, or do this outside of compiled code."
_CONTEXT: Final = re.compile(
    r"Developer debug context: (?:TypeError <[^<>\n]{1,200}>: )?(?P<said>[^\n]{1,1000})"
)
"""A message from ``torch/_dynamo/exc.py``, with the prefix that ``GB0112`` adds (torch 2.11 to 2.15)."""
_HINTS: Final[Mapping[str, str]] = {
    "GB0016": "Use the jagged layout: `torch.nested.nested_tensor(..., layout=torch.jagged)`.",
    "GB0053": "Wrap the module with `use_orig_params=True`.",
    "GB0104": "Read `grad_fn` outside of compiled code.",
    "GB0108": "Return the tensor, and call `retain_grad()` on it after the compiled call.",
    "GB0125": ("Set `requires_grad` before the compiled call, on the tensor that is passed to it."),
    "GB0126": _AS_NEW,
    "GB0127": _AS_NEW,
    "GB0129": _AS_NEW,
    "GB0130": _AS_NEW,
    "GB0151": "Call `inspect` before the compiled call, and keep the result.",
    "GB0157": _OF_NUMPY,
    "GB0158": _OF_NUMPY,
    "GB0159": _OF_NUMPY,
    "GB0271": "Store this in an attribute of the object, or set it outside of compiled code.",
    "GB0346": _STATIC,
    "GB0348": _STATIC,
    "GB0352": _STATIC,
    "GB3383": "Create this object outside of compiled code, and pass it in.",
    "GB5976": "Compare `data_ptr()` outside of compiled code.",
}


_OPTIMIZER: Final = re.compile(r"`Optimizer\.(?:zero_grad|step)`")
_OF_OPTIMIZER: Final = (
    "Torch keeps its optimizers out of graphs on purpose. Compile the function that computes the loss, and "
    "call `zero_grad`, `backward` and `step` outside of it."
)


def coded_answer(fact: GraphBreak | CompileFailure) -> FindingAnswer:
    """Return an answer if torch has no explanation or no hint for users.

    If the explanation is missing, the answer contains torch's developer context. If hints are missing, it has
    a hint chosen by the break's id.
    """
    if fact.code in ("GB0007", "GB0008") and _OPTIMIZER.search(fact.explanation):
        return FindingAnswer("", (_OF_OPTIMIZER,), instead=True)
    context = _CONTEXT.search(fact.text) if fact.code and not fact.explanation.strip() else None
    hint = _HINTS.get(fact.code, "") if not fact.hints else ""
    return FindingAnswer(context["said"] if context else "", (hint,) if hint else ())
