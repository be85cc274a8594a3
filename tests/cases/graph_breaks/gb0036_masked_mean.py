"""GB0036: Dynamic shape operator. The mean of what a mask selects."""

import torch


@torch.compile
def f(x, mask):
    y = x * 2
    mean = y[mask].mean()  # expect: GB0036 [y[mask]]
    return y - mean


if __name__ == "__main__":
    f(torch.tensor([1.0, -4.0, 3.0]), torch.tensor([True, False, True]))
