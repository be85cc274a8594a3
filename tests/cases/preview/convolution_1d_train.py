"""A depthwise convolution in one dimension, with a gate."""

# backward

import torch
from torch import nn

device = "cuda"


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Conv1d(64, 64, 4, groups=64, padding=3)

    def forward(self, x):
        return torch.sigmoid(self.mix(x)[..., : x.shape[-1]]) * x


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Gated().to(device))
    x = torch.randn(4, 64, 256, device=device, requires_grad=True)
    out = model(x)
    out.sum().backward()
