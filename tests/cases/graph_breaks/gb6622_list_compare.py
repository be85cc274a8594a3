"""GB6622: list_richcompare_nonconst."""

import torch


@torch.compile
def f(x, y):
    xs = [x * 2]
    if xs == [y]:  # expect: GB6622 [xs == [y]]
        return x
    return xs[0] + y


if __name__ == "__main__":
    f(torch.ones(1), torch.ones(1))
