"""GB0231: call `torch.from_numpy` with `torch._dynamo.config.trace_numpy=False`."""

import numpy as np
import torch


@torch.compile
def f(x, values):
    y = x * 2
    z = torch.from_numpy(values)  # expect: GB0231 [torch.from_numpy(values)]
    return y + z


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_numpy=False):
        f(torch.ones(2), np.ones(2, dtype=np.float32))
