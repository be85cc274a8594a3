"""A program that ends with an exit code of its own."""

import sys

import torch


@torch.compile
def f(x):
    return x * 2


if __name__ == "__main__":
    f(torch.ones(2))
    sys.exit(3)  # expect: target-error [sys.exit(3)]
