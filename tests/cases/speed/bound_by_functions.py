"""A kernel that computes many sines for each number that it reads."""

import torch


@torch.compile
def waves(x):
    for _ in range(4):  # slowest: nothing
        x = torch.sin(x) * 0.5 + torch.cos(x)
    return x


if __name__ == "__main__":
    x = torch.randn(512, 512)
    for _ in range(20):
        waves(x)
