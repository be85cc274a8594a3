"""A break on the way of each step of a training."""

import json
import sys

import torch
from torch import nn

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 10)

    def forward(self, x):
        h = torch.relu(self.first(x))
        json.dumps(list(range(20000)))  # slowest: break
        return self.second(h)


net = Net().to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
compiled = torch.compile(net)
x, y = torch.randn(32, 64, device=device), torch.randint(10, (32,), device=device)
for _ in range(6):
    loss = nn.functional.cross_entropy(compiled(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
