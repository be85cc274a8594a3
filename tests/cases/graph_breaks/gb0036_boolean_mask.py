"""GB0036: Dynamic shape operator."""

import torch


@torch.compile
def f(x):
    y = x * 2
    kept = y[  # expect: GB0036 [y[]
        x > 0
    ]
    return kept.sum()


if __name__ == "__main__":
    f(torch.tensor([1.0, -1.0, 2.0]))
