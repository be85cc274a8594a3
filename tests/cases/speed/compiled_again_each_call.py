"""An attribute that is another string in each call."""

import sys

import torch
from torch import nn

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
torch._dynamo.config.recompile_limit = 64


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.name = ""
        self.linear = nn.Linear(16, 16)

    def forward(self, x):  # slowest: recompile
        return self.linear(x) * len(self.name)


net = Net().to(device)
compiled = torch.compile(net)
for step in range(10):
    net.name = "x" * (step + 1)
    compiled(torch.ones(4, 16, device=device))
