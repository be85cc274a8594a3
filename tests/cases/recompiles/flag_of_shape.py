"""A flag decides about a shape."""

# cause: `keepdim` was True, is now False
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


@torch.compile
def f(x, keepdim):
    return x.sum(0, keepdim=keepdim)  # expect: recompile [keepdim]


if __name__ == "__main__":
    for keepdim in (True, False):
        f(torch.ones(4, 3), keepdim)
