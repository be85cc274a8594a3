"""GB6215: Unresolved GetAttrVariable comparison."""

import torch


@torch.compile
def f(x):
    y = x * 2
    if y.relu == x.relu:  # expect: GB6215 [y.relu == x.relu]
        y = y + 1
    return y


if __name__ == "__main__":
    f(torch.ones(2))
