"""A break on the way of each step of a training."""

import json

import torch
from torch import nn

torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 10)

    def forward(self, x):
        h = torch.relu(self.first(x))
        json.dumps(list(range(20000)))  # slowest: break
        return self.second(h)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
compiled = torch.compile(net)
x, y = torch.randn(32, 64), torch.randint(10, (32,))
for _ in range(6):
    loss = nn.functional.cross_entropy(compiled(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
