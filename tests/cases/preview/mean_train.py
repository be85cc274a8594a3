"""Means over different dimensions, whose gradients are broadcast."""

# backward

import torch

device = "cuda"


@torch.compile
def center(x):
    return x - x.mean(-1, keepdim=True) + x.mean((0, 1)).exp()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(8, 100, 256, device=device, requires_grad=True)
    out = center(x)
    out.square().sum().backward()
