"""GB0294: attempted to trace numpy function unsupported by PyTorch."""

import numpy as np
import torch


@torch.compile
def f(x):
    y = (x * 2).numpy()
    lower = np.unwrap(y)  # expect: GB0294 [np.unwrap(y)]
    return x + torch.from_numpy(lower)


if __name__ == "__main__":
    f(torch.ones(4))
