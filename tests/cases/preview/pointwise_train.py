"""A chain of pointwise operations and its gradient."""

# backward

import torch

device = "cuda"


@torch.compile
def wave(x):
    return (x.sin() * x.exp() + x.square()).cos()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(512, 1024, device=device, requires_grad=True)
    out = wave(x)
    out.sum().backward()
