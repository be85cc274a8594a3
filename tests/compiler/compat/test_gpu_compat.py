"""A GPU that the program does not open stays closed. It is pretended: the build of torch has none."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from fullgraph_compiler.compat import gpu_compat
from in_child import in_child

OPENED: list[str] = []
"""What asked for the GPU, in a child."""


def beside_a_gpu(function: Callable[[], Any], *, waits: bool = True) -> Any:
    """What the function returns in a child with a GPU that is not open."""

    def work() -> Any:
        torch._dynamo.reset()
        torch.version.cuda = "13.0"
        torch.cuda._is_compiled = lambda: True
        torch.cuda._is_in_bad_fork = lambda: False  # though this process may have asked for one
        torch.cuda._device_count_nvml = lambda: 1
        torch.cuda._lazy_init = torch.cuda.random._lazy_init = lambda: OPENED.append("init")
        torch.cuda.init = lambda: OPENED.append("init")
        torch._C._cuda_getDeviceCount = lambda: OPENED.append("count") or 1
        torch._C._cuda_getDevice = lambda: 0
        torch.accelerator.is_available = lambda: bool(OPENED.append("accelerator"))
        gpu_compat._compute_capability = lambda: (9, 0)
        if waits:
            gpu_compat.wait_for_program()
        return function()

    return in_child(work)


@torch.compile(backend="aot_eager")
def toy(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def toy_opens() -> list[str]:
    toy(torch.randn(10), torch.randn(10, requires_grad=True)).sum().backward()
    return list(OPENED)


def test_a_program_that_uses_no_gpu_opens_none() -> None:
    assert beside_a_gpu(toy_opens) == []


def test_a_fork_finds_a_gpu_that_torch_would_have_opened() -> None:
    def fork() -> list[str]:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        return list(OPENED)

    assert beside_a_gpu(lambda: [fork(), toy_opens(), fork()]) == [[], [], ["init"]]


def test_without_that_torch_opens_it() -> None:
    with pytest.raises(AssertionError, match="tuple index out of range"):  # no GPU has a generator here
        beside_a_gpu(toy_opens, waits=False)


def test_what_the_program_asks_is_torchs_answer() -> None:
    def asks() -> list[str]:
        torch.compile(lambda x: x + torch.cuda.is_available(), backend="eager", fullgraph=True)(torch.ones(2))
        return OPENED

    assert beside_a_gpu(asks) == ["count"]


def test_a_frame_that_asks_for_a_stream_opens_it() -> None:
    def ask() -> list[Any]:
        from torch._dynamo import symbolic_convert
        from torch._dynamo.exc import RestartAnalysis

        state = symbolic_convert.SymbolicStreamState()
        told: list[Any] = [state.in_stream_context(), list(OPENED)]
        for ask, *args in (
            (state.cur_stream,),
            (state.enter_stream, None),
            (state.cur_stream, torch.device("cuda")),
        ):
            try:
                ask(*args)
            except RestartAnalysis:
                told.append(OPENED.pop())
        torch.cuda._initialized = True
        return [*told, symbolic_convert.SymbolicStreamState().in_stream_context(), OPENED]

    assert beside_a_gpu(ask) == [False, [], "init", "init", "init", False, ["accelerator"]]


def test_the_state_of_a_closed_gpu_is_nothing_to_restore() -> None:
    def preserve() -> list[Any]:
        from torch._dynamo.utils import preserve_rng_state

        with preserve_rng_state():
            torch.cuda._initialized = True
        told = list(OPENED)
        torch.cuda._initialized = False
        with pytest.raises(IndexError):
            torch.cuda.get_rng_state()
        return [told, "init" in OPENED]

    assert beside_a_gpu(preserve) == [["count"], True]
