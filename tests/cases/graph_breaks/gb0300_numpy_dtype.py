"""GB0300: numpy function that produces a const collection type encountered non-const arguments."""

import numpy as np
import torch


@torch.compile
def f(x, values):
    y = x * 2
    kind = np.dtype(values)  # expect: GB0300 [np.dtype(values)]
    return y + kind.itemsize


if __name__ == "__main__":
    try:
        f(torch.ones(4), np.arange(3))
    except TypeError:
        pass
