"""A model that moves memory, which nothing makes faster."""  # slowest: nothing

import sys

import torch

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


@torch.compile
def scale(x):
    return x * 2.0


x = torch.randn(1 << (28 if device == "cuda" else 26), device=device)
with torch.no_grad():
    for _ in range(4):
        scale(x)
