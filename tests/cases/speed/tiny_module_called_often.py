"""A small module that is compiled by itself, and called from a large one that is not."""

import torch
from torch import nn

torch.set_num_threads(1)


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):  # slowest: entry
        return x * self.weight


layers = [torch.compile(Scale()) for _ in range(4)]
x = torch.ones(4)
with torch.no_grad():
    for _ in range(10):
        for layer in layers:
            x = layer(x)
