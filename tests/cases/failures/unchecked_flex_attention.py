"""Attention with a function for scores, which Dynamo captures in torch's own way only."""

# stage: unchecked

import warnings

import torch
from torch.nn.attention.flex_attention import flex_attention


@torch.compile
def f(q, k, v):
    return flex_attention(q, k, v, lambda score, batch, head, i, j: score + (i - j))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    f(*(torch.ones(1, 1, 128, 16) for _ in range(3)))
