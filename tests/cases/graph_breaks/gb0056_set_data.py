"""GB0056: Failed to mutate tensor data attribute."""

import torch


@torch.compile
def f(x):
    y = x * 2
    y.data = x + 1  # expect: GB0056 [y.data]
    return y.sin()


if __name__ == "__main__":
    f(torch.ones(3))
