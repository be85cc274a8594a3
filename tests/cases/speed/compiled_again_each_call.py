"""An attribute that is another string in each call."""

import torch
from torch import nn

torch.set_num_threads(1)
torch._dynamo.config.recompile_limit = 64


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.name = ""
        self.linear = nn.Linear(16, 16)

    def forward(self, x):  # slowest: recompile
        return self.linear(x) * len(self.name)


net = Net()
compiled = torch.compile(net)
for step in range(10):
    net.name = "x" * (step + 1)
    compiled(torch.ones(4, 16))
