"""GB4198: Attempted to copy.deepcopy a tensor."""

import copy

import torch


@torch.compile
def f(x):
    y = x * 2
    z = copy.deepcopy(y)  # expect: GB4198 [copy.deepcopy(y)]
    return z + y


if __name__ == "__main__":
    f(torch.ones(2))
