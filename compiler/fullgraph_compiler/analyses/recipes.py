"""Recipes for a program that crashes or runs out of memory when compiled: parts of the compiler to turn off.

The program runs unmodified, then with one part of the compiler off at a time, then uncompiled.
(https://docs.pytorch.org/docs/main/user_guide/torch_compiler/torch.compiler_faq.html, "Why am I
getting OOMs?")
For wrong results see :mod:`..diagnose.stages`.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import torch

from ..compat import inductor_compat, settings_compat
from ..diagnose import programs
from ..diagnose.results import ResultRecorder
from ..facts import Fact, Failure, RecipeTried, RunFinished, RunRequest, TargetProblem
from ..observe.live import Sink
from ..processes.children import run_child
from .entry import Entry

_KIB = 1024
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Recipe:
    """A part of the compiler to turn off, by settings; ``advice`` tells the user how to do so."""

    name: str
    settings: tuple[tuple[str, object], ...] = ()
    advice: str = ""


AS_IT_IS = Recipe("as it is")
RECIPES = (
    Recipe(
        "dynamic shapes off",
        (("torch._dynamo.config.automatic_dynamic_shapes", False),),
        "Compile with dynamic=False, or set torch._dynamo.config.automatic_dynamic_shapes = False.",
    ),
    Recipe(
        "CUDA graphs off",
        (("torch._inductor.config.triton.cudagraphs", False),),
        "Remove mode='reduce-overhead', or set torch._inductor.config.triton.cudagraphs = False.",
    ),
)
UNCOMPILED = Recipe("uncompiled")


def try_recipes(request: RunRequest, sink: Sink, speak: Callable[[], None]) -> None:
    """Run the program with each recipe in a child, and report to ``sink``.

    ``speak`` makes ``sink`` work in a child. The facts of the run without a recipe are reported, too.
    """
    begun = time.monotonic()
    inductor_compat.prepare(request.cache)
    first = _try(AS_IT_IS, request, sink, speak)
    sink([first, *programs.failure_problems(first.failure)])
    for recipe in RECIPES:
        tried = _try(recipe, request, _silent, _nothing)
        sink([tried])
        if first.failure and not tried.failure:
            message = f"The program gets through with {recipe.name}."
            sink([TargetProblem("warning", message, (recipe.advice,))])
    sink([_try(UNCOMPILED, request, _silent, _nothing)])
    sink([RunFinished("finished", time.monotonic() - begun, 0)])


def _try(recipe: Recipe, request: RunRequest, sink: Sink, speak: Callable[[], None]) -> RecipeTried:
    def prepare() -> None:
        if recipe is UNCOMPILED:
            ResultRecorder(compiled=False).install()
        settings_compat.pin_settings(dict(recipe.settings))

    def work() -> tuple[tuple[Fact, ...], int]:
        speak()
        facts = programs.observe(request, sink, prepare)
        return facts, _peak_memory()

    ended = run_child(work, request.patience, request.memory)
    if ended.out_of_memory:
        message = f"it uses more than {(request.memory or 0) / _GIB:.3g} GiB"
        return RecipeTried(recipe.name, Failure("error", programs.OUT_OF_MEMORY, message), ended.seconds, 0)
    facts, memory = ended.answer if ended.answered else ((), 0)
    ran = programs.how_it_ran(replace(ended, answer=facts))
    return RecipeTried(recipe.name, ran.failure, ran.seconds, memory)


def _peak_memory() -> int:
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        return int(torch.cuda.max_memory_reserved())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB


def _silent(_: object) -> None:
    """Ignore the facts of a run with a recipe."""


def _nothing() -> None:
    """Do nothing: the child reports no facts."""


ENTRY: Final = Entry(run=try_recipes)
