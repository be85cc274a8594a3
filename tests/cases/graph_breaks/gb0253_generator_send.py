"""GB0253: call_method on generator."""

import torch


def rows():
    got = yield 1
    yield got


@torch.compile
def f(x, counts):
    y = x * 2
    counts.send(3)  # expect: GB0253 [counts.send(3)]
    return y + 1


if __name__ == "__main__":
    g = rows()
    next(g)
    f(torch.ones(2), g)
