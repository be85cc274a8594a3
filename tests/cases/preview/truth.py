"""Reductions of truth values, and counting."""

import torch

device = "cuda"


@torch.compile
def check(x):
    return (x > 4).any(), (x > -9).all(-1), (x > 0).sum(0), x.isnan().any(-1), (x[:, :20] * 0.1).prod(-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(1000, 333, device=device)
    out = check(x)
