"""A condition on a size: even and odd ones are two graphs."""

# cause: `x.shape[0] % 2 == 0` no longer holds
# advice: compiled once
# fix: none (the two sides of the branch are two graphs)

import torch


@torch.compile(dynamic=True)
def f(x):
    y = x.sin()
    if x.shape[0] % 2 == 0:  # expect: recompile [x.shape[0] % 2 == 0]
        return y.view(-1, 2)
    return y


if __name__ == "__main__":
    f(torch.ones(8))
    f(torch.ones(7))
