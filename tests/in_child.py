"""A function call in a forked child of this process, which leaves nothing behind.

This process has imported torch. It has also imported the compiler for children that compile: importing it
takes longer than most tests.
"""

from __future__ import annotations

import functools
import gc
import json
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import torch._dynamo  # noqa: F401 - one copy serves all children
from fullgraph_compiler.compat.inductor_compat import import_inductor
from fullgraph_compiler.processes.children import run_child
from fullgraph_compiler.worker.imports import warm_up

SECONDS = 240
"""How long a child may take: less than a test may, so that its end is told."""


def in_child(function: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """What the function returns, by way of JSON.

    Raises ``AssertionError`` with the child's traceback, or with how it ended if it did not answer.
    """
    _warm()

    def work() -> str:
        with _ErrorText() as error:
            return json.dumps({"value": function()})
        return json.dumps({"error": error.text})

    ended = run_child(work, seconds)
    if not ended.answered:
        raise AssertionError(f"no answer in {seconds} s" if ended.out_of_time else f"the child died: {ended}")
    answer = json.loads(ended.answer)
    if "error" in answer:
        raise AssertionError(answer["error"])
    return answer["value"]


class _ErrorText:
    """Catch an error and keep its traceback.

    A ``try`` statement would count as one of the tested program, which then catches its errors.
    """

    text = ""

    def __enter__(self) -> _ErrorText:
        return self

    def __exit__(self, *error: object) -> bool:
        self.text = traceback.format_exc()
        return True


@functools.cache
def _warm() -> None:
    """Do the work once that each child would repeat, as workers do before a run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of torch about itself
        import_inductor()
        warm_up()
    gc.collect()
    gc.freeze()  # as workers do: a child that looks for garbage would copy every page of its parent
