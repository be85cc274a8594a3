"""Whole samples are left out, and noise is added."""

# backward

import torch

device = "cuda"


@torch.compile
def drop(x, y):
    kept = torch.rand(x.shape[0], 1, device=x.device) < 0.8
    return x + y * kept / 0.8 + 0.1 * torch.randn_like(y)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(64, 512, device=device, requires_grad=True)
    y = torch.randn(64, 512, device=device, requires_grad=True)
    out = drop(x, y)
    out.square().sum().backward()
