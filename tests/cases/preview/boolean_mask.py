"""A result whose size depends on data."""

# otherwise: what follows the mask needs to know how many elements there are

import torch

device = "cuda"


@torch.compile
def positive(x):
    y = x.sin() * 2
    return y[y > 0].sum() + 1


if __name__ == "__main__":
    torch.manual_seed(0)
    out = positive(torch.randn(100, device=device))
