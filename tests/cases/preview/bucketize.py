"""A binary search in a kernel."""

import torch

device = "cuda"


@torch.compile
def histogram(x, borders):
    return torch.bucketize(x, borders) * 2 + torch.searchsorted(borders, x, right=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    x, borders = torch.randn(10_000, device=device), torch.linspace(-3, 3, 65, device=device)
    out = histogram(x, borders)
