"""GB0569: repr() on tensor."""

import torch


@torch.compile
def f(x):
    y = x * 2
    text = repr(y)  # expect: GB0569 [repr(y)]
    return y + len(text)


if __name__ == "__main__":
    f(torch.ones(2))
