"""Patches of pictures with places, as a vision transformer begins."""

# backward

import torch
from torch import nn

device = "cuda"


class Patches(nn.Module):
    def __init__(self, size=96):
        super().__init__()
        self.cut = nn.Conv2d(3, size, 8, stride=8)
        self.first = nn.Parameter(torch.zeros(1, 1, size))
        self.places = nn.Parameter(torch.randn(1, 17, size))

    def forward(self, pictures):
        x = self.cut(pictures).flatten(2).transpose(1, 2)
        return torch.cat((self.first.expand(x.shape[0], -1, -1), x), dim=1) + self.places


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Patches().to(device))
    out = model(torch.randn(4, 3, 32, 32, device=device))
    out.square().mean().backward()
