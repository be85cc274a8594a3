"""GB0066: Graph break under GenericContextWrappingVariable."""

import contextlib

import torch


@contextlib.contextmanager
def section():
    yield


@torch.compile
def f(x, sizes):
    y = x * 2
    n = sizes.sum().item()
    with section():
        y = y + len(range(n))  # expect: GB0066 [range(n)]
    return y


if __name__ == "__main__":
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        f(torch.ones(2), torch.tensor([1, 1]))
