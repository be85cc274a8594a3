"""GB0170: Data-dependent branching."""

import torch


@torch.compile
def f(x):
    while x.sum() < 10:  # expect: GB0170 [x.sum() < 10]
        x = x * 2
    return x


if __name__ == "__main__":
    f(torch.ones(2))
