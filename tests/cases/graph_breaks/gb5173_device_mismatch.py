"""GB5173: Tensor device mismatch."""

import torch


@torch.compile
def f(x, y):
    z = x * 2
    return z + y  # expect: GB5173 [z + y]


if __name__ == "__main__":
    try:
        f(torch.ones(2), torch.ones(2, device="meta"))
    except RuntimeError:
        pass
