"""The gradient of what is broadcast is a sum."""

# backward

import torch

device = "cuda"


@torch.compile
def affine(x, weight, bias):
    return torch.tanh(x * weight + bias[:, None])


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 768, device=device, requires_grad=True)
    weight = torch.randn(768, device=device, requires_grad=True)
    bias = torch.randn(256, device=device, requires_grad=True)
    out = affine(x, weight, bias)
    out.square().mean().backward()
