"""GB0222: Attempted to wrap a set with tensors."""

import torch


@torch.compile
def f(x, parameters):
    y = x * 2
    return y + len(parameters)  # expect: GB0222 [len(parameters)]


if __name__ == "__main__":
    f(torch.ones(2), {torch.ones(1), torch.ones(1)})
