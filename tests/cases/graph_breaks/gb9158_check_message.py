"""GB9158: Can't convert torch._check*() message closure."""

import torch


@torch.compile
def f(x):
    y = x * 2
    torch._check(x.shape[0] > 1, lambda: f"rows: {y}")  # expect: GB9158 [torch._check(x.shape[0] > 1, lambda: f"rows: {y}")]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
