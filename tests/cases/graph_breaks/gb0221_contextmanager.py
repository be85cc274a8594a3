"""GB0221: non-generator contextlib.contextmanager."""

import contextlib

import torch


@contextlib.contextmanager
def nothing():
    return iter([None])


@torch.compile
def f(x):
    y = x * 2
    with nothing():  # expect: GB0221 [nothing()]  # expect(<2.15): GB0142 [nothing()]  # expect(>=2.15): GB9493 [nothing()]
        y = y + 1
    return y


if __name__ == "__main__":
    f(torch.ones(2))
