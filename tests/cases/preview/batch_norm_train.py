"""A batch norm in training, which changes its running statistics."""

# backward

import torch
from torch import nn

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(nn.Sequential(nn.BatchNorm1d(256), nn.ReLU()).to(device))
    x = torch.randn(1024, 256, device=device, requires_grad=True)
    out = model(x)
    out.square().mean().backward()
