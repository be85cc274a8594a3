"""A string, then none."""

# cause: `reduction` was 'sum', is now None
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


@torch.compile
def f(x, reduction):
    return x.sum() if reduction == "sum" else x * 2  # expect: recompile [reduction]


if __name__ == "__main__":
    for reduction in ("sum", None):
        f(torch.ones(4), reduction)
