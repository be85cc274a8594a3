"""A small training job: two models, with graph breaks and sizes that change.

The argument is the backend.
"""

import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Net(nn.Module):
    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        if x.mean() > 100:
            x = x / 2
        return x.softmax(-1)


def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    print("woo")
    if b.sum() < 0:
        b = b * -1
    return x * b


if __name__ == "__main__":
    backend = sys.argv[1] if len(sys.argv) > 1 else "inductor"
    toy = torch.compile(toy_example, backend=backend)
    for size in (10, 12, 16):
        toy(torch.randn(size), torch.randn(size))
    net = torch.compile(Net(32, 4), backend=backend)
    for size in (8, 12):
        net(torch.randn(size, 32)).sum().backward()
