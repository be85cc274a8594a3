"""GB0036: Dynamic shape operator. The number of elements that are not zero."""

import torch


@torch.compile
def f(x):
    y = x * 2
    count = len(y.nonzero())  # expect: GB0036 [y.nonzero()]
    return y / count


if __name__ == "__main__":
    f(torch.tensor([1.0, 0.0, 3.0]))
