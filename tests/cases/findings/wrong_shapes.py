"""What is wrong in eager mode too is found while Dynamo traces."""

import torch


@torch.compile
def f(x):
    return x @ torch.ones(7, 7)  # expect: GB4315 [x @ torch.ones(7, 7)]


if __name__ == "__main__":
    f(torch.ones(3, 3))
