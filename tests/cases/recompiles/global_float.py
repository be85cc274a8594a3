"""A fraction in the module changes."""

# cause: `SCALE` was 0.5, is now any float
# advice: torch.tensor(0.5)

import torch


@torch.compile
def f(x):
    return x * SCALE  # expect: recompile [SCALE]


if __name__ == "__main__":
    SCALE = 0.5  # fix: SCALE = torch.tensor(0.5)
    f(torch.ones(4))
    SCALE = 0.25  # fix: SCALE = torch.tensor(0.25)
    f(torch.ones(4))
