"""GB4841: Unsupported python_type() call."""

import torch


@torch.compile
def f(x):
    y = x * 2
    text = repr(y.relu)  # expect: GB4841 [repr(y.relu)]
    return y + len(text) * 0


if __name__ == "__main__":
    f(torch.ones(2))
