"""A decay that an operation takes as a number."""

# cause: `decay` was 0.5, is now 0.25
# advice: needs the concrete value of `decay`
# fix: none (torch makes a number of it)

import torch


@torch.compile
def f(x, y, decay):
    return x.lerp(y, 1 - decay)  # expect: recompile [decay]


if __name__ == "__main__":
    for decay in (0.5, 0.25):
        f(torch.ones(4), torch.ones(4), decay)
