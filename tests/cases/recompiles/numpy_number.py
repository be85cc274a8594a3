"""A number of NumPy."""

# cause: `scale` is no longer 2.0
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import numpy as np
import torch


@torch.compile
def f(x, scale):
    return x * scale  # expect: recompile [scale]


if __name__ == "__main__":
    for scale in (2.0, np.float64(2.0)):
        f(torch.ones(4), scale)
