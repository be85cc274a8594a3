"""Losses of numbers: squared, absolute, Huber's, and binary cross entropy."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def loss(x, y):
    binary = F.binary_cross_entropy_with_logits(x, y.sigmoid())
    return F.mse_loss(x, y) + F.l1_loss(x, y) + F.smooth_l1_loss(x, y) + F.huber_loss(x, y) + binary


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(1000, 300, device=device, requires_grad=True)
    y = torch.randn(1000, 300, device=device)
    out = loss(x, y)
    out.backward()
