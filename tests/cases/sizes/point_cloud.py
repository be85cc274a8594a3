"""Clouds of other numbers of points: the farthest of each feature."""

import torch
from torch import nn


class PointNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lift = nn.Linear(3, 16)
        self.out = nn.Linear(16, 4)

    def forward(self, points):
        return self.out(self.lift(points).relu().amax(1))


if __name__ == "__main__":
    torch.manual_seed(0)
    model = PointNet()
    classify = torch.compile(model)
    for count in (40, 64, 25):
        points = torch.randn(2, count, 3)
        classify(points)
