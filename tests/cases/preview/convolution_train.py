"""Convolution, batch norm, activation and pooling, in training."""

# backward

import torch
from torch import nn

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    layers = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)
    model = torch.compile(nn.Sequential(*layers).to(device))
    out = model(torch.randn(8, 3, 32, 32, device=device))
    out.square().mean().backward()
