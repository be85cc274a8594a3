"""A layer with one output, and one with more."""

# cause: size of `weight` at dimension 1 was 1, is now 3
# advice: a size of 0 or 1 separately
# fix: none (a size of 1 is a graph of its own)

import torch


@torch.compile
def f(weight, x):
    return x @ weight  # expect: recompile [weight]


if __name__ == "__main__":
    for size in (1, 3):
        weight = torch.nn.Parameter(torch.ones(4, size))
        f(weight, torch.ones(2, 4))
