"""GB0105: Tensor.numpy() with trace_numpy=False."""

import torch


@torch.compile
def f(x):
    y = x * 2
    z = y.numpy()  # expect: GB0105 [y.numpy()]
    return x + z.shape[0]


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_numpy=False):
        f(torch.ones(2))
