"""A mode as a string."""

# cause: `mode` was 'sum', is now 'mean'
# advice: compiled once
# fix: none (each mode is a graph of its own)

import torch


@torch.compile
def f(x, mode):
    return x.sum() if mode == "sum" else x.mean()  # expect: recompile [mode]


if __name__ == "__main__":
    f(torch.ones(4), "sum")
    f(torch.ones(4), "mean")
