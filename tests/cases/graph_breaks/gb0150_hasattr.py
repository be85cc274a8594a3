"""GB0150: Unsupported hasattr call."""

import torch


@torch.compile
def f(x, names):
    y = x * 2
    pairs = zip(names, names)
    if hasattr(pairs, "close"):  # expect: GB0150 [hasattr(pairs, "close")]
        y = y + 1
    return y


if __name__ == "__main__":
    f(torch.ones(2), ["a"])
