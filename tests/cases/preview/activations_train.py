"""Activation functions with decompositions of their own."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def activate(x):
    return F.gelu(x) + F.silu(x) * F.softplus(x) + F.elu(x) - F.hardswish(x) + F.leaky_relu(x, 0.1)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(300, 700, device=device, requires_grad=True)
    out = activate(x)
    out.mean().backward()
