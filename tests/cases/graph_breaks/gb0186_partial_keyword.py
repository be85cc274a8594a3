"""GB0186: functools.partial() with non-literal keyword."""

import functools

import torch


class Name(str):
    pass


def scaled(x, factor):
    return x * factor


@torch.compile
def f(x, fn):
    y = x * 2
    return fn(y)  # expect: GB0186 [fn(y)]


if __name__ == "__main__":
    f(torch.ones(2), functools.partial(scaled, **{Name("factor"): 3}))
