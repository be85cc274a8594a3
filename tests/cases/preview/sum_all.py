"""A sum of everything: it is split, and a second kernel adds the parts up."""

import torch

device = "cuda"


@torch.compile
def total(x):
    return (x * x).sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(2048, 2048, device=device)
    out = total(x)
