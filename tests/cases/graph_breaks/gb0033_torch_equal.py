"""GB0033: Data dependent operator."""

import torch


@torch.compile
def f(x, y):
    x = x * 2
    if torch.equal(x, y):  # expect: GB0033 [torch.equal(x, y)]
        return x
    return x + y


if __name__ == "__main__":
    f(torch.ones(2), torch.ones(2))
