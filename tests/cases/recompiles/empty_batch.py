"""An empty batch among full ones."""

# cause: size of `x` at dimension 0 was 4, is now 0
# advice: a size of 0 or 1 separately
# fix: none (a size of 0 is a graph of its own)

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for size in (4, 0):
        x = torch.ones(size, 3)
        f(x)
