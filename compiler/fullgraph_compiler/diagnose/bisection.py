"""Below TorchInductor: which pass, setting or lowering is at fault, as torch's own bisector finds out."""

from __future__ import annotations

import torch

from ..cases import checking, repro
from ..cases.case import Case
from ..cases.oracle import execute, silence
from ..compat import inductor_compat
from ..processes.children import run_child


def bisect(case: Case, seconds: float) -> str:
    """What has to be turned off so that a case no longer fails: ``lowerings, 2: aten.relu.default``.

    Empty if nothing of it helps, or it takes too long. (``torch/_inductor/compiler_bisector.py``)
    """

    def passes() -> bool:
        torch.compiler.reset()
        return checking.examine(execute(text)) is None

    def work() -> str:
        silence()
        return inductor_compat.bisect(passes)

    text = repro.program(case)
    return run_child(work, seconds).answer or ""
