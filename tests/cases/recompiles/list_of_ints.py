"""A list of numbers that grows."""

# cause: length of `sizes` was 2, is now 3
# advice: has its own graph, compiled once
# fix: none (each length is a graph of its own)

import torch


@torch.compile
def f(x, sizes):
    return x.repeat(sizes)  # expect: recompile [sizes]


if __name__ == "__main__":
    for sizes in ([2, 2], [2, 2, 2]):
        f(torch.ones(4), sizes)
