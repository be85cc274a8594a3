"""GB4315: RuntimeError when making fake tensor call."""

import torch


@torch.compile
def f(x, y):
    z = x * 2
    return z == y  # expect: GB4315 [z == y]


if __name__ == "__main__":
    try:
        f(torch.ones(2), torch.ones(3))
    except RuntimeError:
        pass
