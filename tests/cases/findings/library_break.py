"""A break deep in a library is put on the line that led there."""

import textwrap

import torch


def describe(x):
    return len(textwrap.dedent(f"{x}"))  # expect: GB0299 [textwrap.dedent(f"{x}")]


@torch.compile
def f(x):
    y = x * 2
    return y + describe(y)


if __name__ == "__main__":
    f(torch.ones(2))
