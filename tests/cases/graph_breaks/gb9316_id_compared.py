"""GB9316: Comparison on compile-time-only id or hash value."""

import torch


@torch.compile
def f(x):
    y = [x * 2]
    if id(y) == 12345:  # expect: GB9316 [id(y) == 12345]; GB4501 [id(y) == 12345]
        return x
    return y


if __name__ == "__main__":
    f(torch.ones(2))
