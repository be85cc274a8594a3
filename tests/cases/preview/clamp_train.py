"""Masks made of comparisons, forward and backward."""

# backward

import torch

device = "cuda"


@torch.compile
def clip(x, low, high):
    return torch.where(x < low, low * 0.5, x.clamp(max=1.5)).minimum(high)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(64, 4096, device=device, requires_grad=True)
    low = torch.full((4096,), -1.0, device=device, requires_grad=True)
    high = torch.rand(64, 4096, device=device)
    out = clip(x, low, high)
    out.sum().backward()
