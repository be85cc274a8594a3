"""GB0026: Calling subclass default constructor with more than tensor argument."""

import torch


class Vector(torch.Tensor):
    pass


@torch.compile
def f(x):
    y = x * 2
    v = Vector([1.0, 2.0])  # expect: GB0026 [Vector([1.0, 2.0])]
    return y + v


if __name__ == "__main__":
    f(torch.ones(2))
