"""Another function of the program's own as an argument."""

# cause: `g` is no longer the same function
# advice: compiled once
# fix: none (each function is a graph of its own)

import torch


def double(x):
    return x * 2


def triple(x):
    return x * 3


@torch.compile
def f(x, g):
    return g(x)  # expect: recompile [g]


if __name__ == "__main__":
    f(torch.ones(4), double)
    f(torch.ones(4), triple)
