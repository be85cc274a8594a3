"""GB0025: Call to `torch._dynamo.graph_break()`."""

import contextlib

import torch


@contextlib.contextmanager
def section():
    yield


@torch.compile
def f(x):
    y = x * 2
    with section():
        torch._dynamo.graph_break()  # expect: GB0025 [torch._dynamo.graph_break()]
        y = y + 1
    return y


if __name__ == "__main__":
    f(torch.ones(2))
