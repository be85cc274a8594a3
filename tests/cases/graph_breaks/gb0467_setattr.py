"""GB0467: setattr() on unsupported type."""

import torch


def helper(x):
    return x + 1


@torch.compile
def f(x):
    y = x * 2
    setattr(len, "calls", 1)  # expect: GB0467 [setattr(len, "calls", 1)]
    return helper(y)


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except AttributeError:
        pass
