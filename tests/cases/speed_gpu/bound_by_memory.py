"""A model that moves memory, which nothing makes faster."""  # slowest: nothing

import torch


@torch.compile
def scale(x):
    return x * 2.0


x = torch.randn(1 << 28, device="cuda")
with torch.no_grad():
    for _ in range(4):
        scale(x)
