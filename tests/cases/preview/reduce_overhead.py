"""A function that shall run as a CUDA graph."""

import torch

device = "cuda"


@torch.compile(mode="reduce-overhead")
def wave(x):
    return x.sin().sum(-1).exp()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 512, device=device)
    out = wave(x)
