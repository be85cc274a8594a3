"""A fraction in the module changes."""

# cause: `SCALE` was 0.5, is now any float
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x):
    return x * SCALE  # expect: recompile [SCALE]


if __name__ == "__main__":
    SCALE = 0.5
    f(torch.ones(4))
    SCALE = 0.25
    f(torch.ones(4))
