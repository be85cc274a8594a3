"""GB0181: dtype mismatch between tensor and its gradient."""

import torch


@torch.compile
def f(x):
    y = x * 2  # expect: GB0181 [x * 2]
    return y.sum()


if __name__ == "__main__":
    x = torch.ones(2, requires_grad=True)
    x.grad_dtype = None
    x.grad = torch.ones(2, dtype=torch.float64)
    f(x)
