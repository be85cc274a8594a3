"""GB4501: Reconstruction of FakeIdVariable."""

import torch


@torch.compile
def f(x):
    y = [x * 2]
    return y, id(y)  # expect: GB4501 [return y, id(y)]


if __name__ == "__main__":
    f(torch.ones(2))
