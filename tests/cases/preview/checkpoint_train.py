"""Activation checkpointing: the backward pass computes part of the forward pass again."""

# backward

import torch
from torch.utils.checkpoint import checkpoint

device = "cuda"


def wave(x):
    return x.sin().cos().exp()


@torch.compile
def forward(x, weight):
    return checkpoint(wave, x @ weight, use_reentrant=False).sum(-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(64, 64, device=device, requires_grad=True)
    weight = torch.randn(64, 64, device=device, requires_grad=True)
    out = forward(x, weight)
    out.sum().backward()
