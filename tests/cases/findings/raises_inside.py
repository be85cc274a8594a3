"""The program's own exception in compiled code is that, and no graph break."""

import torch


@torch.compile
def f(x):
    y = x * 2
    raise ValueError("mine")  # expect: target-error [raise ValueError("mine")]


if __name__ == "__main__":
    f(torch.ones(2))
