"""One of two tensors has a size of one in the first call: it is broadcast."""

# cause: size of `y` at dimension 0 was 1, is now 4
# advice: a size of 0 or 1 separately
# fix: none (a size of 1 is broadcast)

import torch


@torch.compile
def f(x, y):
    return x + y  # expect: recompile [y]


if __name__ == "__main__":
    x = torch.ones(4, 3)
    for size in (1, 4):
        y = torch.ones(size, 3)
        f(x, y)
