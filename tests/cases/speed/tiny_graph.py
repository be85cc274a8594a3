"""A graph of one operation, called from a loop that is not compiled."""

import sys

import torch

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


@torch.compile
def add_one(x):  # slowest: entry
    return x + 1


x = torch.ones(4, device=device)
for _ in range(200):
    x = add_one(x)
