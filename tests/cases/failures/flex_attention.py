"""Attention with functions for scores and for the mask, which hold tensors: nothing is at fault."""

# stage: none

import warnings

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

length = 128
bias = torch.linspace(-1, 1, length)
document = torch.arange(length) // 64


@torch.compile
def f(q, k, v, mask):
    return flex_attention(q, k, v, lambda score, batch, head, i, j: score + bias[i] * (i - j), mask)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    blocks = create_block_mask(
        lambda batch, head, i, j: document[i] >= document[j], None, None, length, length, device="cpu"
    )
    f(*(torch.ones(1, 1, length, 16) for _ in range(3)), blocks)
