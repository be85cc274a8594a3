"""Sizes that are symbols, in training."""

# backward

import torch

device = "cuda"


@torch.compile(dynamic=True)
def scores(x, weight):
    return (x @ weight).relu().softmax(-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(100, 256, device=device, requires_grad=True)
    weight = torch.randn(256, 300, device=device, requires_grad=True)
    out = scores(x, weight)
    out.square().sum().backward()
