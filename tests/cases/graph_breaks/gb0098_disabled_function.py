"""GB0098: Skip calling `torch.compiler.disable()`d function."""

import torch


@torch.compiler.disable(reason="reads a file")
def lookup(x):
    return x.sum()


@torch.compile
def f(x):
    y = x * 2
    total = lookup(y)  # expect: GB0098 [lookup(y)]
    return y + total


if __name__ == "__main__":
    f(torch.ones(2))
