"""Flex attention with a modification of its scores."""

import torch
from torch.nn.attention.flex_attention import flex_attention

device = "cuda"


def causal(score, batch, head, query, key):
    return torch.where(query >= key, score, -float("inf"))


@torch.compile
def attend(q, k, v):
    return flex_attention(q, k, v, score_mod=causal)


if __name__ == "__main__":
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, 256, 64, device=device, dtype=torch.bfloat16) for _ in range(3))
    out = attend(q, k, v)
