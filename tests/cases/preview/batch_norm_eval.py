"""A batch norm with the statistics of its training."""

import torch
from torch import nn

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(nn.Sequential(nn.BatchNorm2d(32), nn.ReLU()).to(device).eval())
    with torch.no_grad():
        out = model(torch.randn(8, 32, 28, 28, device=device))
