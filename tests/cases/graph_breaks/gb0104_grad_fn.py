"""GB0104: Tensor with grad_fn()."""

import torch


@torch.compile
def f(x):
    y = x * 2
    if y.grad_fn is not None:  # expect: GB0104 [y.grad_fn]
        y = y + 1
    return y


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True))
