"""Convolution, batch norm, activation and pooling, for inference."""

import torch
from torch import nn

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    layers = nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)
    model = torch.compile(nn.Sequential(*layers).to(device).eval())
    with torch.no_grad():
        out = model(torch.randn(8, 16, 32, 32, device=device))
