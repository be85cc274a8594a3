"""GB0059: Failed to trace builtin operator."""

import os

import torch


@torch.compile
def f(x):
    y = x * 2
    with open(os.devnull) as file:  # expect: GB0059 [open(os.devnull)]; GB0142 [open(os.devnull) as file]
        text = file.read()
    return y + len(text)


if __name__ == "__main__":
    f(torch.ones(2))
