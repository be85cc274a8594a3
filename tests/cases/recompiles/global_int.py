"""A number in the module changes."""

# cause: `STEPS` was 2, is now 3
# advice: torch.tensor(2)

import torch

STEPS = 2


@torch.compile
def f(x):
    return x + STEPS  # expect: recompile [STEPS]


if __name__ == "__main__":
    for STEPS in (2, 3):  # fix: for STEPS in (torch.tensor(2), torch.tensor(3)):
        f(torch.ones(4))
