"""Activations that are kept for the backward pass, one of them eight times as large as the others."""

import sys

import torch
from torch import nn

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(256, 4096)
        self.narrow = nn.Linear(4096, 256)

    def forward(self, x):
        h = self.wide(x)  # held
        h = torch.sigmoid(h)
        return torch.tanh(self.narrow(h))


net = Net().to(device)
compiled = torch.compile(net)
x = torch.randn(2048, 256, device=device)
for _ in range(4):
    compiled(x).sum().backward()
