"""GB0109: Tensor.tolist() with non-integer tensor."""

import torch


@torch.compile
def f(x):
    y = x * 2
    first, second = y.tolist()  # expect: GB0109 [y.tolist()]
    return x + second


if __name__ == "__main__":
    f(torch.ones(2))
