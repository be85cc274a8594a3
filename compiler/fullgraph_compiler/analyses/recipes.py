"""Recipes against crashes and full memory: parts of the compiler to turn off.

A program that crashes or runs out of memory when compiled runs several times: first unmodified, then with one
part of the compiler off at a time, and finally uncompiled.
(https://docs.pytorch.org/docs/main/user_guide/torch_compiler/torch.compiler_faq.html, "Why am I getting
OOMs?") For wrong results see :mod:`..diagnose.stages`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import torch

from ..compat import inductor_compat, settings_compat
from ..diagnose import programs
from ..diagnose.results import ResultRecorder
from ..facts import RecipeTried, RunFinished, RunRequest, TargetProblem
from ..observe.live import Sink
from ..processes.processes import peak_memory
from .entry import WorkerEntry


@dataclass(frozen=True, slots=True)
class Recipe:
    """A part of the compiler, and the settings that turn this part off.

    ``advice`` says how a program can turn the part off.
    """

    name: str
    settings: tuple[tuple[str, object], ...] = ()
    advice: str = ""


AS_IT_IS = Recipe("unmodified")
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
    """Run the program with each recipe in a child process; report the results.

    ``speak`` is called first in a child, so that ``sink`` works there. The facts of the run without a recipe
    are reported, too.
    """
    begun = time.monotonic()
    inductor_compat.prepare(request.cache)
    first = _try(AS_IT_IS, request, sink, speak)
    sink([first, *programs.failure_problems(first.failure)])
    for recipe in RECIPES:
        tried = _try(recipe, request)
        sink([tried])
        if first.failure and not tried.failure:
            message = f"The program gets through with {recipe.name}."
            sink([TargetProblem("warning", message, (recipe.advice,))])
    sink([_try(UNCOMPILED, request)])
    sink([RunFinished("finished", time.monotonic() - begun, 0)])


def _try(
    recipe: Recipe, request: RunRequest, sink: Sink = programs.ignore, speak: Callable[[], object] = bool
) -> RecipeTried:
    def prepare() -> None:
        if recipe is UNCOMPILED:
            ResultRecorder(compiled=False).install()
        settings_compat.pin_settings(dict(recipe.settings))

    ran, memory = programs.run_observed(
        request, sink, prepare, _peak_memory, speak=speak, memory=request.memory
    )
    return RecipeTried(recipe.name, ran.failure, ran.seconds, memory or 0)


def _peak_memory() -> int:
    is_on_gpu = torch.cuda.is_available() and torch.cuda.is_initialized()
    return int(torch.cuda.max_memory_reserved()) if is_on_gpu else peak_memory()


ENTRY: Final = WorkerEntry(run=try_recipes)
