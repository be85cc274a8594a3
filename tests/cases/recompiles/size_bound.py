"""A branch on a size: what was compiled holds on one side of it."""

# cause: size of `x` at dimension 0 is no longer from 2 to 4096
# advice: compiled once
# fix: none (the two sides of the branch are two graphs)

import torch


@torch.compile(dynamic=True)
def f(x):
    if x.shape[0] <= 4096:  # expect: recompile [x]
        return x * 2
    return x + 1


if __name__ == "__main__":
    f(torch.ones(8))
    f(torch.ones(5000))
