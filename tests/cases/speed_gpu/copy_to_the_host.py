"""A large tensor that goes to the host and back in each call."""

import torch


@torch.compile
def forward(x):
    y = torch.sin(x)
    y = y.cpu().cuda()  # slowest: copy
    return torch.cos(y)


x = torch.randn(1 << 24, device="cuda")
for _ in range(4):
    forward(x)
