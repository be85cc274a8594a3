"""A break in a loop: the whole function runs uncompiled."""

import torch


@torch.compile
def step(x):
    for _ in range(8):
        x = torch.sin(x) @ x
        if x.sum().item() > 1e9:  # slowest: break
            x = x / 2
        x = torch.tanh(x)
    return x


x = torch.randn(16, 16, device="cuda")
for _ in range(6):
    step(x)
