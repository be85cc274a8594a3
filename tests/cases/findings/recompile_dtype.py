"""A tensor of another dtype."""

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    f(torch.ones(4))
    f(torch.ones(4, dtype=torch.float64))
