"""Sizes that are symbols from the first call."""

import torch

device = "cuda"


@torch.compile(dynamic=True)
def scores(x, weight):
    return (x @ weight).relu().sum(-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    out = scores(torch.randn(100, 256, device=device), torch.randn(256, 256, device=device))
