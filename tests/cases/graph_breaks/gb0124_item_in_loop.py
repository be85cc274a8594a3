"""GB0124: Unsupported Tensor.item() call with capture_scalar_outputs=False."""

import torch


@torch.compile
def f(x):
    total = 0.0
    for row in x:
        total += row.max().item()  # expect: GB0124 [row.max().item()]
    return x / total


if __name__ == "__main__":
    f(torch.ones(3, 2))
