"""GB0126: Unsupported Tensor.resize_() call."""

import torch


@torch.compile
def f(x):
    y = x * 2
    with torch.no_grad():
        y = y.resize_(2, 2)  # expect: GB0126 [y.resize_(2, 2)]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(4))
