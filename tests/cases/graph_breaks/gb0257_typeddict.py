"""GB0257: TypedDict with optional keys."""

from typing import TypedDict

import torch


class Options(TypedDict, total=False):
    scale: float
    shift: float


@torch.compile
def f(x):
    y = x * 2
    options = Options(scale=2.0)  # expect: GB0257 [Options(scale=2.0)]
    return y * options["scale"]


if __name__ == "__main__":
    f(torch.ones(2))
