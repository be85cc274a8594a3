"""A function that has reached its recompile limit."""

import torch
from torch import nn

torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.name = ""
        self.linear = nn.Linear(64, 64)

    def forward(self, x):
        for _ in range(20):
            x = torch.sin(self.linear(x)) * len(self.name)
        return x


net = Net()
compiled = torch.compile(net)
with torch.no_grad():
    for step in range(20):
        net.name = "x" * (step + 1)
        compiled(torch.ones(4, 64))  # slowest: break
