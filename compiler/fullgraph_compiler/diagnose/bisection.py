"""Find the pass, setting or lowering of TorchInductor at fault (torch's bisector)."""

from __future__ import annotations

import torch

from ..cases import checking, repro
from ..cases.case import FailureCase
from ..cases.oracle import execute, silence
from ..compat import inductor_compat
from ..processes.children import run_child


def bisect(case: FailureCase, seconds: float) -> str:
    """Return the part of TorchInductor without which a case no longer fails.

    An example is ``lowerings, 2: aten.relu.default``. The string is empty if no single part is at fault, or
    if the search takes longer than ``seconds``. (``torch/_inductor/compiler_bisector.py``)
    """

    def passes() -> bool:
        torch.compiler.reset()
        return checking.examine(execute(text)) is None

    def work() -> str:
        silence()
        return inductor_compat.bisect(passes)

    text = repro.program(case)
    return run_child(work, seconds).answer or ""
