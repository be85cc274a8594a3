"""GB0127: Unsupported Tensor.resize_as_() call."""

import torch


@torch.compile
def f(x, like):
    y = x * 2
    y.resize_as_(like)  # expect: GB0127 [y.resize_as_(like)]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(4), torch.ones(2, 2))
