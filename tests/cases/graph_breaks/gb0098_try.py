"""GB0098: Skip calling `torch.compiler.disable()`d function."""

import torch


@torch.compiler.disable
def lookup(x):
    return x.sum()


@torch.compile
def f(x):
    y = x * 2
    try:
        y = y + lookup(y)  # expect: GB0098 [lookup(y)]
    except RuntimeError:
        y = y - 1
    return y


if __name__ == "__main__":
    f(torch.ones(2))
