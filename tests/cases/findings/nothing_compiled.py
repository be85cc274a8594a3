"""A compiled function whose calls have no tensors: Dynamo captures nothing."""

import torch


@torch.compile
def double(x):
    return x * 2


@torch.compile
def triple(x):
    return x * 3


if __name__ == "__main__":
    for number in range(3):
        double(number)  # expect: nothing-compiled [double(number)]
        triple(torch.ones(2))
