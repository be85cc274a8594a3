"""GB0298: attempted to trace torch._numpy.random function with config.use_numpy_random_stream=True."""

import numpy as np
import torch


@torch.compile
def f(x):
    y = x * 2
    z = np.random.uniform(size=2)  # expect: GB0298 [np.random.uniform(size=2)]
    return y + torch.from_numpy(z)


if __name__ == "__main__":
    with torch._dynamo.config.patch(use_numpy_random_stream=True):
        f(torch.ones(2))
