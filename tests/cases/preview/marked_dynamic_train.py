"""A batch dimension that the program has marked."""

# backward

import torch
from torch import nn

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.Tanh()).to(device))
    x = torch.randn(48, 64, device=device)
    torch._dynamo.mark_dynamic(x, 0)
    out = model(x)
    out.square().sum().backward()
