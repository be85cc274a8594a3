"""Inputs that are changed in place, also through a view."""

import torch

device = "cuda"


@torch.compile
def change(x, y):
    x.add_(y)
    x[:, 1:].mul_(2)
    x.relu_()
    return x.sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = torch.randn(100, 100, device=device), torch.randn(100, device=device)
    out = change(x, y)
