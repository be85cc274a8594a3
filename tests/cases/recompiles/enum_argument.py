"""A mode as an enum."""

# cause: `mode` was Mode.SUM, is now Mode.MEAN
# advice: compiled once
# fix: none (each mode is a graph of its own)

import enum

import torch


class Mode(enum.Enum):
    SUM = 1
    MEAN = 2


@torch.compile
def f(x, mode):
    return x.sum() if mode is Mode.SUM else x.mean()  # expect: recompile [mode]


if __name__ == "__main__":
    f(torch.ones(4), Mode.SUM)
    f(torch.ones(4), Mode.MEAN)
