"""GB0297: random.Random() with improper arguments."""

import random

import torch


@torch.compile
def f(x):
    y = x * 2
    source = random.Random(x=7)  # expect: GB0297 [random.Random(x=7)]
    return y + source.random()


if __name__ == "__main__":
    f(torch.ones(2))
