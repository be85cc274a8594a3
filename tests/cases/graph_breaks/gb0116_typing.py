"""GB0116: Unexpected type in sourceless builder."""

import typing

import torch


@torch.compile
def f(x):
    y = x * 2
    alias = typing.Union[int, str].copy_with((int,))  # expect: GB0116 [typing.Union[int, str].copy_with]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
