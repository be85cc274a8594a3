"""Rows by their index, and a slice with a step."""

# backward

import torch

device = "cuda"


@torch.compile
def rows(x, places):
    return x.index_select(0, places) * x[::2][: places.shape[0]]


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(400, 96, device=device, requires_grad=True)
    out = rows(x, torch.randint(0, 400, (150,), device=device))
    out.sum().backward()
