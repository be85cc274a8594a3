"""GB0088: Observed exception."""

import typing

import torch


@torch.compile
def f(x, kind):
    y = x * 2
    if issubclass(type(y), typing.Hashable):  # expect: GB0088 [issubclass(type(y), typing.Hashable)]
        y = y + 1
    return y


if __name__ == "__main__":
    f(torch.ones(2), int)
