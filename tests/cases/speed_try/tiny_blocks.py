"""A hundred tiny blocks: compiled block by block, each call enters a hundred graphs."""

import torch
from torch import nn

torch.set_num_threads(1)


class Tiny(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x * self.weight) + x


class Deep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*(Tiny() for _ in range(100)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.blocks(x)


model = torch.compile(Deep())
with torch.no_grad():
    for _ in range(3):
        model(torch.randn(4, 16))
