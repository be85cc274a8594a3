"""GB0001: Argument of `as_subclass` must be a non-dispatcher-style tensor subclass."""

import torch
from torch.testing._internal.two_tensor import TwoTensor


@torch.compile
def f(x):
    y = x + 1
    y.as_subclass(TwoTensor)  # expect: GB0001 [y.as_subclass(TwoTensor)]
    return y * 2


if __name__ == "__main__":
    f(torch.ones(3))
