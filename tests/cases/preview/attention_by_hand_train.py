"""Attention with a mask and a bias that no pattern of torch knows."""

# backward

import torch

device = "cuda"


@torch.compile
def attend(q, k, v, bias):
    scores = q @ k.transpose(-1, -2) * 0.125 + bias.tanh()
    hidden = torch.ones(128, 128, device=q.device, dtype=torch.bool).triu(1)
    return scores.masked_fill(hidden, -1e4).softmax(-1).square() @ v


if __name__ == "__main__":
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, 128, 64, device=device, requires_grad=True) for _ in range(3))
    bias = torch.randn(4, 128, 128, device=device, requires_grad=True)
    out = attend(q, k, v, bias)
    out.sum().backward()
