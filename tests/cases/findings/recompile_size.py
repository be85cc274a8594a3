"""A tensor of another size: the guard stands where the tensor is first used."""

import torch


@torch.compile
def f(a, b):
    x = b + 1
    return x + (a * 2).sum()  # expect: recompile [a]


if __name__ == "__main__":
    f(torch.ones(10), torch.ones(3))
    f(torch.ones(12), torch.ones(3))
