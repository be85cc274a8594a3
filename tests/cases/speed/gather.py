"""A kernel that reads its input in random order."""

import sys

import torch

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


@torch.compile
def gather(x, index):
    return x[index] * 2 + 1  # slowest: kernel


size = 1 << (27 if device == "cuda" else 24)
x = torch.randn(size, device=device)
index = torch.randperm(size, device=device)
for _ in range(4):
    gather(x, index)
