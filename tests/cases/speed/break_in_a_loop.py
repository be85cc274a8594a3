"""A break in a loop: the whole function runs uncompiled."""

import torch

torch.set_num_threads(1)


@torch.compile
def step(x):
    for _ in range(8):
        x = torch.sin(x) @ x
        if x.sum().item() > 1e9:  # slowest: break
            x = x / 2
        x = torch.tanh(x)
    return x


x = torch.randn(16, 16)
for _ in range(6):
    step(x)
