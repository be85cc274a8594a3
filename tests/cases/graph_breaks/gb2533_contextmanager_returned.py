"""GB2533: reconstructing @contextmanager object."""

import contextlib

import torch


@contextlib.contextmanager
def section():
    yield


@torch.compile
def f(x):
    y = x * 2
    return y, section()  # expect: GB2533 [return y, section()]


if __name__ == "__main__":
    f(torch.ones(2))
