"""A graph of one operation, called from a loop that is not compiled."""

import torch

torch.set_num_threads(1)


@torch.compile
def add_one(x):  # slowest: entry
    return x + 1


x = torch.ones(4)
for _ in range(200):
    x = add_one(x)
