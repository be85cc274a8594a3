"""Flex attention with a mask of blocks: a sliding window."""

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

device = "cuda"


def window(batch, head, query, key):
    return (query >= key) & (query - key < 128)


@torch.compile
def attend(q, k, v):
    mask = create_block_mask(window, None, None, 512, 512, device=q.device)
    return flex_attention(q, k, v, block_mask=mask)


if __name__ == "__main__":
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, 512, 64, device=device, dtype=torch.bfloat16) for _ in range(3))
    out = attend(q, k, v)
