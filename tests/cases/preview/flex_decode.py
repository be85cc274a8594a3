"""Flex attention with a query of one token: another template."""

import torch
from torch.nn.attention.flex_attention import flex_attention

device = "cuda"


@torch.compile
def attend(q, k, v):
    return flex_attention(q, k, v)


if __name__ == "__main__":
    torch.manual_seed(0)
    q = torch.randn(2, 8, 1, 64, device=device, dtype=torch.bfloat16)
    k, v = (torch.randn(2, 8, 2048, 64, device=device, dtype=torch.bfloat16) for _ in range(2))
    out = attend(q, k, v)
