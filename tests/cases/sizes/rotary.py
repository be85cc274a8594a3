"""Rotary positions for prompts of other lengths."""

import torch


@torch.compile
def rotate(x, angles):
    angles = angles[: x.shape[1]]
    first, second = x.chunk(2, -1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


if __name__ == "__main__":
    torch.manual_seed(0)
    angles = torch.outer(torch.arange(64.0), torch.rand(4))
    for length in (5, 12, 20):
        x = torch.randn(2, length, 8)
        rotate(x, angles)
