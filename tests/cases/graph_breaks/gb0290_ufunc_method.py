"""GB0290: attempted to trace numpy.* function as a method."""

import numpy as np
import torch


@torch.compile
def f(x):
    y = (x * 2).numpy()
    z = np.add.accumulate(y)  # expect: GB0290 [np.add.accumulate(y)]
    return x + torch.from_numpy(z)


if __name__ == "__main__":
    f(torch.ones(2))
