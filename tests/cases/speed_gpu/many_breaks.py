"""Many tiny graphs between breaks."""

import torch


@torch.compiler.disable
def mark(x):
    return x


@torch.compile
def forward(x):
    x = mark(x + 1)  # slowest: break
    x = mark(x * 2)  # slowest: break
    x = mark(x - 3)  # slowest: break
    x = mark(x / 4)  # slowest: break
    x = mark(x + 5)  # slowest: break
    return x * 6


x = torch.ones(8, device="cuda")
for _ in range(6):
    forward(x)
