"""GB0124: Unsupported Tensor.item() call with capture_scalar_outputs=False."""

import torch


@torch.compile
def rows(x):
    return [row.sum().item() for row in x]  # expect: GB0124 [row.sum().item()]


if __name__ == "__main__":
    rows(torch.ones(2, 2))
