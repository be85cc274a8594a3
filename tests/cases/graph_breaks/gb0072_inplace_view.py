"""GB0072: Inplace op on input tensor."""

import torch


@torch.compile
def f(x):
    y = x.sum()
    torch.Tensor.t_(x)  # expect: GB0072 [torch.Tensor.t_(x)]
    return x + y


if __name__ == "__main__":
    f(torch.ones(2, 3))
