"""GB0226: `torch.nn.Parameter()` with unsupported data type."""

import torch


@torch.compile
def f(x):
    y = x * 2
    weight = torch.nn.Parameter()  # expect: GB0226 [torch.nn.Parameter()]
    return y + weight.numel()


if __name__ == "__main__":
    f(torch.ones(2))
