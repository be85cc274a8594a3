"""GB0175: builtin isinstance() cannot determine type of argument."""

import torch


@torch.compile
def f(x):
    y = x * 2
    if isinstance(y.storage, int):  # expect: GB0175 [isinstance(y.storage, int)]
        y = y + 1
    if isinstance(torch.ops.aten, int):
        y = y + 1
    return y


if __name__ == "__main__":
    f(torch.ones(2))
