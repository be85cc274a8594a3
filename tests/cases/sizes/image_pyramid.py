"""The same convolution at each level of a pyramid of images."""

import torch
from torch import nn


class Level(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, image):
        return self.conv(image).relu().mean((2, 3))


if __name__ == "__main__":
    torch.manual_seed(0)
    level = torch.compile(Level())
    image = torch.randn(1, 3, 32, 32)
    for _ in range(3):
        level(image)
        image = image[..., ::2, ::2].contiguous()
