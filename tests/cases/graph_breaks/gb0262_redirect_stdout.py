"""GB0262: unsupported contextlib.* API."""

import contextlib
import io

import torch


@torch.compile
def f(x, sink):
    y = x * 2
    with contextlib.redirect_stdout(sink):  # expect: GB0262 [contextlib.redirect_stdout(sink)]  # expect(<2.15): GB0142 [contextlib.redirect_stdout(sink)]
        y = y + 1
    return y.sin()


if __name__ == "__main__":
    f(torch.ones(2), io.StringIO())
