"""Two linear layers with an activation between them."""

# backward

import torch
from torch import nn

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(device))
    x = torch.randn(128, 256, device=device, requires_grad=True)
    out = model(x)
    out.square().mean().backward()
