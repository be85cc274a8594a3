"""A break in a loop: the whole function runs uncompiled."""

import sys

import torch

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


@torch.compile
def step(x):
    for _ in range(8):
        x = torch.sin(x) @ x
        if x.sum().item() > 1e9:  # slowest: break
            x = x / 2
        x = torch.tanh(x)
    return x


x = torch.randn(16, 16, device=device)
for _ in range(6):
    step(x)
