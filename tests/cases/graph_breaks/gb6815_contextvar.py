"""GB6815: ContextVar mutation not supported."""

import contextvars

import torch

SCALE = contextvars.ContextVar("scale", default=2)


@torch.compile
def f(x):
    y = x * 2
    SCALE.set(3)  # expect(<2.15): GB0156 [SCALE.set(3)]  # expect(>=2.15): GB6815 [SCALE.set(3)]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
