"""Many tiny graphs between breaks."""

import sys

import torch

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


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


x = torch.ones(8, device=device)
for _ in range(6):
    forward(x)
