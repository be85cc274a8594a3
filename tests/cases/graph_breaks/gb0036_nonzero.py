"""GB0036: Dynamic shape operator."""

import torch


@torch.compile
def f(x):
    y = x.relu()
    rows = y.nonzero()  # expect: GB0036 [y.nonzero()]
    return rows.float() + 1


if __name__ == "__main__":
    f(torch.tensor([1.0, -1.0, 2.0]))
