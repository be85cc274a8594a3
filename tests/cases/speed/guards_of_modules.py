"""Five thousand guards on modules and their attributes."""

import sys

import torch
from torch import nn

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.0
        self.flags = [float(number) for number in range(40)]

    def forward(self, x):
        total = 0.0
        for flag in self.flags:
            total += flag
        return x * self.scale + total


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(100))

    def forward(self, x):  # slowest: guards
        for block in self.blocks:
            x = block(x)
        return x


model = torch.compile(Model().to(device))
x = torch.ones(8, 8, device=device)
with torch.no_grad():
    for _ in range(6):
        model(x)
