"""A chain of pointwise operations, broadcast over rows."""

import torch

device = "cuda"


@torch.compile
def scale(x, y):
    return (x * y).sin() + torch.where(x > 0, x, y)


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = torch.randn(1024, 1024, device=device), torch.randn(1024, 1, device=device)
    out = scale(x, y)
