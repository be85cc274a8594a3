"""A loop over layers, which Dynamo unrolls."""

# backward

import torch

device = "cuda"


@torch.compile
def layers(x, weights):
    for weight in weights:
        x = (x * weight).tanh() + x
    return x


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(64, 256, device=device, requires_grad=True)
    weights = [torch.randn(256, device=device, requires_grad=True) for _ in range(4)]
    out = layers(x, weights)
    out.sum().backward()
