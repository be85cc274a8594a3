"""A tuple where the first call passed a list."""

# cause: `shape` was type list, is now type tuple
# advice: list(

import torch


@torch.compile
def f(x, shape):
    return x.reshape(*shape) + 1  # expect: recompile [shape]


if __name__ == "__main__":
    f(torch.ones(12), [3, 4])
    f(torch.ones(12), (3, 4))  # fix: f(torch.ones(12), list((3, 4)))
