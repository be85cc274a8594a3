"""GB0148: Unsupported function call (delayed)."""

import torch


@torch.compile
def f(x, y):
    z = x * 2
    x.set_(y, 0, (2,), (1,))  # expect: GB0148 [x.set_(y, 0, (2,), (1,))]
    return x + z


if __name__ == "__main__":
    f(torch.ones(2), torch.zeros(4))
