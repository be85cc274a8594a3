"""A head classifies as many regions as an image has."""

import torch
from torch import nn

if __name__ == "__main__":
    torch.manual_seed(0)
    head = torch.compile(nn.Sequential(nn.Flatten(), nn.Linear(4 * 9, 16), nn.ReLU(), nn.Linear(16, 5)))
    for regions in (10, 17, 4):
        scores = head(torch.randn(regions, 4, 3, 3))
        scores.softmax(-1)
