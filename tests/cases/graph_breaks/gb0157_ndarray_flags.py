"""GB0157: Unsupported ndarray attribute access."""

import torch


@torch.compile
def f(x):
    y = x.numpy() * 2
    order = y.flags  # expect: GB0157 [y.flags]
    return torch.from_numpy(y) + (1 if order.c_contiguous else 2)


if __name__ == "__main__":
    f(torch.ones(2))
