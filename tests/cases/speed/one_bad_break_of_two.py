"""Two breaks, of which one is cheap and one is not."""

import sys

import torch

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


@torch.compiler.disable
def cheap(x):
    return x


@torch.compiler.disable
def expensive(x):
    for _ in range(200):
        x = x + 1
    return x


@torch.compile
def forward(x):
    x = torch.sin(x)
    x = cheap(x)
    x = torch.cos(x)
    x = expensive(x)  # slowest: break
    return torch.tanh(x)


x = torch.randn(64, device=device)
for _ in range(6):
    forward(x)
