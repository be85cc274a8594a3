"""An operator that crashes the process only when TorchInductor compiled the call."""

# stage: inductor
# failure: crash SIGSEGV forward
# nodes: 1

import ctypes

import torch
from torch._inductor.lowering import fallback_handler, lowerings


@torch.library.custom_op("failures::safe", mutates_args=())
def safe(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.library.custom_op("failures::crash", mutates_args=())
def crash(x: torch.Tensor) -> torch.Tensor:
    ctypes.string_at(0)
    return x * 2


@safe.register_fake
@crash.register_fake
def _(x):
    return torch.empty_like(x)


lowerings[torch.ops.failures.safe.default] = fallback_handler(torch.ops.failures.crash.default)


@torch.compile
def step(x):
    y = torch.exp(x - x.max())
    return safe(y / y.sum()) + 1  # fault


if __name__ == "__main__":
    step(torch.arange(6.0))
