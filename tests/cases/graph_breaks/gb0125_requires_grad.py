"""GB0125: Unsupported Tensor.requires_grad_() call."""

import torch


@torch.compile
def f(x):
    y = x * 2
    x.requires_grad_()  # expect: GB0125 [x.requires_grad_()]
    return y + x


if __name__ == "__main__":
    f(torch.ones(2))
