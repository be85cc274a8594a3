"""GB0011: Attempted to read undefined local variable."""

import torch


@torch.compile
def f(x):
    y = x * 2
    if x.shape[0] > 8:
        extra = x
    return y + extra  # expect: GB0011 [extra]


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except UnboundLocalError:
        pass
