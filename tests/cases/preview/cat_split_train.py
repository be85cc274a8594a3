"""Concatenation and its parts; the gradient writes into slices."""

# backward

import torch

device = "cuda"


@torch.compile
def swap(x, y):
    first, second = torch.cat((x.relu(), y.sigmoid()), dim=-1).chunk(2, dim=-1)
    return torch.stack((second * 2, first + second), dim=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(128, 300, device=device, requires_grad=True)
    y = torch.randn(128, 212, device=device, requires_grad=True)
    out = swap(x, y)
    out.square().sum().backward()
