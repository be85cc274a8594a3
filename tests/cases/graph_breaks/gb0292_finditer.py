"""GB0292: constant-like method call with unsupported return type."""

import re

import torch

LAYER = re.compile(r"layer(\d)")


@torch.compile
def f(x, name):
    y = x * 2
    found = LAYER.finditer(name)  # expect: GB0292 [LAYER.finditer(name)]
    return y, found


if __name__ == "__main__":
    f(torch.ones(2), "layer1")
