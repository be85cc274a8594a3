"""A training loop with two usual problems: logging, and a float that changes."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.dropout = 0.0

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
            print("mean", x.mean().item())
        return nn.functional.dropout(x, self.dropout)


@torch.compile
def loss_of(model, x, weight):
    return (model(x) ** 2).mean() * weight


if __name__ == "__main__":
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        model.dropout = 0.1 * step
        loss_of(model, torch.randn(4, 8), 1.0 + step).backward()
        optimizer.step()
        optimizer.zero_grad()
