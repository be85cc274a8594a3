"""GB0225: Attempted to use tensor creation function with requires_grad=True."""

import torch


def make_bias(size):
    return torch.zeros(size, requires_grad=True)  # expect: GB0225 [torch.zeros(size, requires_grad=True)]


def shift(x):
    return x + make_bias(x.shape[0])


@torch.compile
def f(x):
    y = x * 2
    return shift(y)


if __name__ == "__main__":
    f(torch.ones(2))
