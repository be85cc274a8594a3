"""No string, then one."""

# cause: `reduction` was None, is now 'sum'
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


@torch.compile
def f(x, reduction=None):
    return x.sum() if reduction == "sum" else x * 2  # expect: recompile [reduction]


if __name__ == "__main__":
    for reduction in (None, "sum"):
        f(torch.ones(4), reduction)
