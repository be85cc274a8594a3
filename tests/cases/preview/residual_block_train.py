"""A block of a residual network."""

# backward

import torch
from torch import nn

device = "cuda"


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.first_norm, self.second_norm = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

    def forward(self, x):
        y = self.first_norm(self.first(x)).relu()
        return (self.second_norm(self.second(y)) + x).relu()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Block(32).to(device))
    x = torch.randn(4, 32, 16, 16, device=device, requires_grad=True)
    out = model(x)
    out.mean().backward()
