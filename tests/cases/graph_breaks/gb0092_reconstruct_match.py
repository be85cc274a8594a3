"""GB0092: Reconstruction failure."""

import re

import torch

LAYER = re.compile(r"row(\d)")


@torch.compile(dynamic=True)
def f(x):
    y = x * 2
    found = LAYER.match(f"row{x.shape[0]}")
    return y + 1, found  # expect: GB0092 [return y + 1, found]


if __name__ == "__main__":
    f(torch.ones(4))
