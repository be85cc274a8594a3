"""GB0156: Unsupported method call."""

import torch


@torch.compile
def f(x):
    y = x * 2
    storage = y.untyped_storage()
    return x + storage.nbytes()  # expect: GB0156 [storage.nbytes()]


if __name__ == "__main__":
    f(torch.ones(2))
