"""GB0264: Attempted to use `torch.nn.Parameter()` constructor with Dynamo."""

import torch


@torch.compile
def f(x):
    y = x * 2
    weight = torch.nn.Parameter(y)  # expect: GB0264 [torch.nn.Parameter(y)]
    return weight.numel() + x


if __name__ == "__main__":
    f(torch.ones(2))
