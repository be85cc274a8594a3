"""GB0220: Failed to mutate tensor data attribute to different dtype."""

import torch


@torch.compile
def f(x):
    y = x * 2
    x.data = y.double()  # expect: GB0220 [x.data]
    return x.sin()


if __name__ == "__main__":
    f(torch.ones(3))
