"""Data that is assigned, by a function that a copy of the graph cannot name."""

# stage: unchecked

import torch


@torch.compile
def f(x, y):
    x.data = y
    return x + 1


if __name__ == "__main__":
    f(torch.ones(8), torch.ones(8))
