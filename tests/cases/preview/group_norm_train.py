"""A group norm and an activation, as in diffusion models."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def normalize(x, weight, bias):
    return F.silu(F.group_norm(x, 8, weight, bias))


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(8, 64, 32, 32, device=device, requires_grad=True)
    weight = torch.randn(64, device=device, requires_grad=True)
    bias = torch.randn(64, device=device, requires_grad=True)
    out = normalize(x, weight, bias)
    out.square().mean().backward()
