"""Additions at computed places, and writes to them."""

import torch

device = "cuda"


@torch.compile
def spread(x, places, values):
    added = x.index_put((places,), values, accumulate=True)
    return added, x.scatter_add(0, places[:, None].expand(32, 64), values), x.index_copy(0, places, values)


if __name__ == "__main__":
    torch.manual_seed(0)
    x, values = torch.randn(1000, 64, device=device), torch.randn(32, 64, device=device)
    out = spread(x, torch.randperm(1000, device=device)[:32], values)
