"""Chunks of a size."""

# cause: size of `x` at dimension 0 was 4, is now 8
# advice: tests this size
# fix: none (each number of chunks is a graph of its own)

import torch


@torch.compile
def f(x):
    return [c.sum() for c in x.split(2)]  # expect: recompile [x]


if __name__ == "__main__":
    for n in (4, 8):
        x = torch.ones(n)
        f(x)
