"""GB8985: requires_grad_() intermediate leaked as output."""

import torch


@torch.compile
def f(x):
    y = x * 2
    z = y.detach().requires_grad_()  # expect: GB8985 [y.detach().requires_grad_()]
    return z * 3


if __name__ == "__main__":
    f(torch.ones(2))
