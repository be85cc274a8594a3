"""A lambda of its own for each call."""

# cause: `g` is no longer the same function
# advice: g =

import torch


@torch.compile
def f(x, g):
    return g(x)  # expect: recompile [g]


if __name__ == "__main__":
    # fix: g = eval("lambda x: x * 2")
    for _ in range(2):
        g = eval("lambda x: x * 2")  # fix: pass
        f(torch.ones(4), g)
