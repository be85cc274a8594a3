"""GB0293: attempted to trace numpy function with config.trace_numpy=False."""

import numpy as np
import torch


@torch.compile
def f(x):
    y = x * 2
    z = np.ones(2, dtype=np.float32)  # expect: GB0293 [np.ones(2, dtype=np.float32)]
    return y + torch.from_numpy(z)  # expect: GB0231 [torch.from_numpy(z)]


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_numpy=False):
        f(torch.ones(2))
