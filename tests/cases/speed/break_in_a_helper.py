"""A break in a helper that the compiled function calls."""

import torch

torch.set_num_threads(1)


def normalize(x):
    peak = x.abs().max().item()  # slowest: break
    return x / peak


@torch.compile
def forward(x):
    x = torch.sin(x)
    x = normalize(x)
    return torch.cos(x)


x = torch.randn(64)
for _ in range(6):
    forward(x)
