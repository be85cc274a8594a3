"""A tensor that wants gradients where the first one did not."""

# cause: requires_grad of `x` was False, is now True
# advice: This is expected
# fix: none (with and without gradients are two graphs)

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for x in (torch.ones(4), torch.ones(4, requires_grad=True)):
        f(x)
