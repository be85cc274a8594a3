"""GB0263: attempted to trace contextlib.contextmanager."""

import contextlib

import torch


@contextlib.contextmanager
def section():
    yield


@torch.compile
def f(x):
    y = x * 2
    with section():  # expect: GB0263 [section()]  # expect(<2.15): GB0142 [section()]
        y = y + 1
    return y


if __name__ == "__main__":
    with torch._dynamo.config.patch(enable_trace_contextlib=False):
        f(torch.ones(2))
