"""A module that asks for many numbers, and needs one parameter of thousands."""

import torch
from torch import nn


class Bank(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.scales = nn.ParameterDict({f"s{i}": nn.Parameter(torch.ones(1)) for i in range(count)})
        self.flags = [i % 3 for i in range(count)]

    def forward(self, x):  # slowest: guards
        for i, flag in enumerate(self.flags):
            if flag == 7:
                x = x + self.scales[f"s{i}"]
        return x * self.scales["s0"]


bank = torch.compile(Bank(3000))
x = torch.ones(16)
for _ in range(50):
    bank(x)
