"""GB0682: Non-constant GetAttrVariable hash."""

import torch


@torch.compile
def f(x):
    y = x * 2
    table = {y.relu: 1}  # expect: GB0682 [{y.relu: 1}]
    return y + len(table)


if __name__ == "__main__":
    f(torch.ones(2))
