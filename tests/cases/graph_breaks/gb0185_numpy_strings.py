"""GB0185: failed to convert numpy.ndarray to Tensor."""

import numpy as np
import torch


@torch.compile
def f(x, names):
    y = x * 2
    return y + len(names)  # expect: GB0185 [len(names)]


if __name__ == "__main__":
    f(torch.ones(2), np.array(["a", "b"]))
