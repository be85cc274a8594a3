"""A flag as an argument."""

# cause: `flag` was True, is now False
# advice: has its own graph, compiled once
# fix: none (each value is a graph of its own)

import torch


@torch.compile
def f(x, flag):
    return x * 2 if flag else -x  # expect: recompile [flag]


if __name__ == "__main__":
    for flag in (True, False):
        f(torch.ones(4), flag)
