"""An operator whose fake kernel promises another shape."""

# stage: aot_eager
# failure: error RuntimeError forward
# nodes: 2

import torch


@torch.library.custom_op("failures::widen", mutates_args=())
def widen(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, x], dim=1)


@widen.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile
def step(x):
    y = widen(x.sin() + 1)  # fault
    return y.flatten() * 3


if __name__ == "__main__":
    step(torch.ones(4, 3))
